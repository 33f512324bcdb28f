"""What is said before an answer: what was asked, and what the reader should know of it."""

from __future__ import annotations

from adapters.discord.asking import came_by_command
from adapters.discord.events import SHORTENED
from adapters.discord.files import CUT, UNREAD
from adapters.discord.wording import escaped
from rag_core.agent.answer import AgentResponse, Outcome
from rag_core.desk.incoming import IncomingQuestion

MAX_QUOTED = 300
CAUTION = "-# ⚠️ The documents cover this only in part: please check the sources."
SHORTENED_NOTE = (
    "-# Your message had {length:,} characters: I read its question and both ends of the paste."
)
UNREAD_NOTE = "-# I read text files, no pictures and no other files: please put those in words."
CUT_NOTE = "-# Of a long file I read the first 20 kB."


def notes(response: AgentResponse, question: IncomingQuestion) -> list[str]:
    """One line each."""
    said = [quoted(question)] if came_by_command(question) else []
    said += [CAUTION] if response.outcome is Outcome.LOW_CONFIDENCE else []
    length = question.address.get(SHORTENED)
    said += [SHORTENED_NOTE.format(length=int(length))] if length else []
    said += [UNREAD_NOTE] if UNREAD in question.address else []
    return said + ([CUT_NOTE] if CUT in question.address else [])


def quoted(question: IncomingQuestion) -> str:
    """Discord shows that a command was used, but not what was asked with it."""
    asked = " ".join(question.question.message.split())
    return f"> {escaped(asked if len(asked) <= MAX_QUOTED else asked[: MAX_QUOTED - 1] + '…')}"
