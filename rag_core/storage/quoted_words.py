"""What one person said in a thread and others brought along as context of their questions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import bindparam, select, update

from rag_core.storage import schema
from rag_core.storage.engines.codec import question_from_json, question_to_json
from rag_core.storage.engines.engine import Database, Transaction
from rag_core.storage.engines.statement import Statement

questions = schema.questions
AT_ONCE = 200
"""Questions that are rewritten in one transaction, so that others may write in between."""
QUOTING = Statement(
    select(questions.c.id).where(
        questions.c.platform == bindparam("platform"),
        questions.c.body.contains(bindparam("named")),
    )
)
BODY = Statement(select(questions.c.body).where(questions.c.id == bindparam("question")))
REWRITE = Statement(
    update(questions)
    .where(questions.c.id == bindparam("question"))
    .values(body=bindparam("new_body"))
)


async def forget_quoted(database: Database, *, platform: str, author: str) -> None:
    """Take a person's words out of the context of all questions."""
    rows = await database.rows(QUOTING, platform=platform, named=f'"author":{json.dumps(author)}')
    ids = [str(row["id"]) for row in rows]
    for start in range(0, len(ids), AT_ONCE):
        await rewrite(database, ids[start : start + AT_ONCE], author)


async def rewrite(database: Database, ids: Sequence[str], author: str) -> None:
    async def body(transaction: Transaction) -> None:
        for question in ids:
            for row in await transaction.rows(BODY, question=question):
                stored = question_from_json(row["body"])
                left = tuple(item for item in stored.question.context if item.author != author)
                kept = replace(stored, question=replace(stored.question, context=left))
                await transaction.rows(REWRITE, question=question, new_body=question_to_json(kept))

    await database.write(body)
