"""What is said before an answer: what was asked, and what the reader should know of it."""

from __future__ import annotations

from adapters.discord.acting.asking import came_by_command
from adapters.discord.hearing.files import CUT, UNREAD
from adapters.discord.phrases import phrases_for
from adapters.discord.wording import escaped
from adapters.excerpts import one_line
from adapters.phrases import common_phrases
from rag_core.agent.answer import AgentResponse, Outcome
from rag_core.desk.incoming import IncomingQuestion
from rag_core.reading.quotations import quoted_sections

MAX_QUOTED = 300


def notes(response: AgentResponse, question: IncomingQuestion) -> list[str]:
    """One line each."""
    said, common, own = [], common_phrases(question), phrases_for(question)
    if response.source_changed:
        said.append(f"-# 🔄 {common.changed}")
    if response.outcome is Outcome.LOW_CONFIDENCE and not quoted_sections(response.answer):
        said.append(f"-# ⚠️ {common.caution}")
    if UNREAD in question.address:
        said.append(f"-# {own.unread}")
    if CUT in question.address:
        said.append(f"-# {own.cut}")
    return [*([quoted(question)] if came_by_command(question) else []), *said]


def quoted(question: IncomingQuestion) -> str:
    """Discord shows that a command was used, but not what was asked with it."""
    return f"> {escaped(one_line(question.question.message, MAX_QUOTED))}"
