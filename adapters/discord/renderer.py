"""An answer → the messages that show it on Discord."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.discord.asking import came_by_command
from adapters.discord.buttons import buttons
from adapters.discord.events import SHORTENED
from adapters.discord.links import place_link
from adapters.discord.markdown import to_discord_markdown, with_tables_fenced
from adapters.discord.parts import payload
from adapters.discord.wording import escaped
from adapters.splitting import split_text
from rag_core.agent.answer import AgentResponse, Citation, Outcome, Suggestion
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.outgoing import Rung

MAX_PART = 1_900
LIMIT = MAX_PART - 20
"""What a part may hold beside the line that counts it."""
SPLIT_LIMIT = 1_000
"""Of a part that Discord is offered after it has refused a longer one."""
MAX_QUOTED = 300
CAUTION = "-# ⚠️ The documents cover this only in part: please check the sources."
LOOK_HERE = "**Maybe look here**"
SHORTENED_NOTE = (
    "-# Your message had {length:,} characters: I read its question and both ends of the paste."
)


class DiscordRenderer:
    """Discord's form of an answer: parts of at most 1,900 characters, footnotes on the last."""

    def __init__(self, *, with_buttons: bool = False) -> None:
        self._with_buttons = with_buttons

    def render(
        self, response: AgentResponse, question: IncomingQuestion, *, rung: Rung = Rung.RICH
    ) -> Sequence[str]:
        limit = LIMIT if rung is Rung.RICH else SPLIT_LIMIT
        head = _notes(response, question)
        body = "\n".join([*head, to_discord_markdown(response.answer)])
        parts = [with_tables_fenced(part, limit) for part in split_text(body, limit)]
        for block in (_footnotes(response), _suggestions(response)):
            _append(parts, block)
        *first, last = _counted(parts)
        below = buttons(response, question) if self._with_buttons and rung is Rung.RICH else []
        return [*map(payload, first), payload(last, below)]


def _notes(response: AgentResponse, question: IncomingQuestion) -> list[str]:
    notes = [_quoted(question)] if came_by_command(question) else []
    notes += [CAUTION] if response.outcome is Outcome.LOW_CONFIDENCE else []
    length = question.address.get(SHORTENED)
    return [*notes, SHORTENED_NOTE.format(length=int(length))] if length else notes


def _quoted(question: IncomingQuestion) -> str:
    """Discord shows that a command was used, but not what was asked with it."""
    asked = " ".join(question.question.message.split())
    return f"> {escaped(asked if len(asked) <= MAX_QUOTED else asked[: MAX_QUOTED - 1] + '…')}"


def _footnotes(response: AgentResponse) -> list[str]:
    files = {(s.page_title, s.section): s.source_file for s in response.sources}
    return [f"[{citation.number}] {_place(citation, files)}" for citation in response.citations]


def _place(citation: Citation, files: dict[tuple[str, str], str]) -> str:
    file = files.get((citation.page_title, citation.section_heading), "")
    return place_link(citation.page_title, citation.section_heading, citation.page_url, file=file)


def _suggestions(response: AgentResponse) -> list[str]:
    lines = [f"- {_suggested(each)}" for each in response.suggestions]
    return [LOOK_HERE, *lines] if lines else []


def _suggested(suggestion: Suggestion) -> str:
    return place_link(suggestion.page_title, suggestion.section_heading, suggestion.page_url)


def _append(parts: list[str], lines: Sequence[str]) -> None:
    """Add lines below the last part, or in further parts where they find no room; none is cut."""
    separator = "\n\n"
    for line in lines:
        if len(parts[-1]) + len(separator) + len(line) <= LIMIT:
            parts[-1] += separator + line
        else:
            parts.append(line)
        separator = "\n"


def _counted(parts: Sequence[str]) -> list[str]:
    """Parts that say which they are: no two of one answer are the same."""
    if len(parts) == 1:
        return list(parts)
    return [f"{part}\n-# {number}/{len(parts)}" for number, part in enumerate(parts, 1)]
