"""What one person said in a thread and others brought along as context of their questions."""

from __future__ import annotations

import json
from dataclasses import replace

from sqlalchemy import Integer, bindparam, select, update

from rag_core.storage import schema
from rag_core.storage.engines.codec import question_from_json, question_to_json
from rag_core.storage.engines.engine import Database, Transaction
from rag_core.storage.engines.statement import Statement

questions = schema.questions
AT_ONCE = 200
QUOTING = Statement(
    select(questions.c.id, questions.c.body)
    .where(
        questions.c.platform == bindparam("platform"),
        questions.c.id > bindparam("after"),
        questions.c.body.contains(bindparam("named")),
    )
    .order_by(questions.c.id)
    .limit(bindparam("limit", type_=Integer))
)
REWRITE = Statement(
    update(questions)
    .where(questions.c.id == bindparam("question"))
    .values(body=bindparam("new_body"))
)


async def forget_quoted(database: Database, *, platform: str, author: str) -> None:
    """Take a person's words out of the context of all questions."""
    after = ""

    async def body(transaction: Transaction) -> str:
        rows = await transaction.rows(
            QUOTING,
            platform=platform,
            after=after,
            named=f'"author":{json.dumps(author)}',
            limit=AT_ONCE,
        )
        for row in rows:
            stored = question_from_json(row["body"])
            left = tuple(item for item in stored.question.context if item.author != author)
            kept = replace(stored, question=replace(stored.question, context=left))
            await transaction.rows(REWRITE, question=row["id"], new_body=question_to_json(kept))
        return str(rows[-1]["id"]) if rows else ""

    while after := await database.write(body):
        pass
