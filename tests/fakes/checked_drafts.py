"""Drafts checked against a few passages, as the agent does it."""

from __future__ import annotations

import asyncio

from rag_core.agent.phrases import PHRASES
from rag_core.agent.verification.check import AnswerCheck, CheckedText
from rag_core.ports import Verifier
from rag_core.retrieval.context import RetrievalContext
from tests.builders import NOON, a_result


def passages(*texts: str, question: str = "", title: str = "Page") -> RetrievalContext:
    found = [a_result(text, page_title=title, section_heading="") for text in texts]
    context, _ = RetrievalContext(query=question).extended(found, took_ms=1.0, at=NOON)
    return context


def check(
    draft: str,
    context: RetrievalContext,
    *,
    question: str = "",
    verifier: Verifier | None = None,
    seconds: float = 60.0,
) -> CheckedText:
    made = AnswerCheck(verifier).check(
        draft, context, question=question, phrases=PHRASES["en"], seconds=seconds
    )
    return asyncio.run(made)
