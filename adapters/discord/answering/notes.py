"""What is said before an answer: what was asked, and what the reader should know of it."""

from __future__ import annotations

from adapters.discord.acting.asking import came_by_command
from adapters.discord.hearing.events import SHORTENED
from adapters.discord.hearing.files import CUT, UNREAD
from adapters.discord.phrases import phrases_for
from adapters.discord.wording import escaped
from rag_core.agent.answer import AgentResponse, Outcome
from rag_core.desk.incoming import IncomingQuestion

MAX_QUOTED = 300


def notes(response: AgentResponse, question: IncomingQuestion) -> list[str]:
    """One line each."""
    said, phrases = [], phrases_for(question)
    if response.source_changed:
        said.append(f"-# 🔄 {phrases.changed}")
    if response.outcome is Outcome.LOW_CONFIDENCE:
        said.append(f"-# ⚠️ {phrases.caution}")
    if length := question.address.get(SHORTENED):
        said.append(f"-# {phrases.shortened.format(length=int(length))}")
    if UNREAD in question.address:
        said.append(f"-# {phrases.unread}")
    if CUT in question.address:
        said.append(f"-# {phrases.cut}")
    return [*([quoted(question)] if came_by_command(question) else []), *said]


def quoted(question: IncomingQuestion) -> str:
    """Discord shows that a command was used, but not what was asked with it."""
    asked = " ".join(question.question.message.split())
    return f"> {escaped(asked if len(asked) <= MAX_QUOTED else asked[: MAX_QUOTED - 1] + '…')}"
