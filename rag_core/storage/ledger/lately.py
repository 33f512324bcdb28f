"""What was asked lately on a platform, to see whether it was changed or deleted meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Integer, bindparam, select

from rag_core.conversation.key import Platform
from rag_core.desk.incoming import IncomingQuestion
from rag_core.storage import schema
from rag_core.storage.engines.codec import question_from_json, to_time
from rag_core.storage.engines.engine import Database
from rag_core.storage.engines.statement import Statement

questions = schema.questions
SINCE = Statement(
    select(questions.c.body)
    .where(
        questions.c.accepted_at >= bindparam("since"),
        # Not as it is: a planner would read all of a platform, and sort that by its time.
        questions.c.platform.concat("") == bindparam("platform"),
        questions.c.withdrawn_at.is_(None),
    )
    .order_by(questions.c.accepted_at.desc())
    .limit(bindparam("at_most", type_=Integer))
)


class AskedLately:
    """Questions by the time that they were accepted, those taken back left out."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def since(
        self, moment: datetime, *, platform: Platform, limit: int
    ) -> Sequence[IncomingQuestion]:
        """The newest first."""
        rows = await self._database.rows(
            SINCE, since=to_time(moment), platform=platform.value, at_most=limit
        )
        return [question_from_json(row["body"]) for row in rows]
