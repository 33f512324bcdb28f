"""An answer → Slack messages: Markdown parts, footnotes and buttons on the last one. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from adapters.excerpts import one_line
from adapters.phrases import common_phrases
from adapters.slack.acting.buttons import buttons
from adapters.slack.answering.blocks import SECTION_LIMIT, Block, gathered, section
from adapters.slack.answering.markdown import (
    LONGEST_TITLE,
    escaped,
    fallback,
    link,
    markdown_parts,
    mrkdwn_parts,
    plain_link,
)
from adapters.slack.earlier import address_of
from adapters.slack.hearing.events import IMAGES
from adapters.slack.phrases import phrases_for
from rag_core.agent.answer import AgentResponse, Citation, EarlierThread, Outcome, Suggestion
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.outgoing import Rung
from rag_core.reading.quotations import quoted_sections, with_bold_marks
from rag_core.retrieval.whereabouts import whereabouts

MARKDOWN_LIMIT = 10_000
"""Slack takes 12,000 characters of Markdown in a message; what is left is for the footnotes."""
BLOCKS_LIMIT = 13_000
"""Slack takes about 13,200 characters in all blocks of a message."""
PLAIN_LIMIT = 3_500
TEXT_LIMIT = 39_000
BUTTON_ROOM = 300
NOTHING_TO_SHOW = "(The answer has no text that can be shown.)"
FILE_NAME = "answer.md"


@dataclass(frozen=True, slots=True)
class SlackRenderer:
    """Writes an answer as payloads of chat.postMessage: the same answer, the same parts."""

    has_staff: bool = False
    """Whether there is somebody whom "Ask a person" can tag."""

    def render(
        self, response: AgentResponse, question: IncomingQuestion, *, rung: Rung = Rung.RICH
    ) -> Sequence[str]:
        match rung:
            case Rung.RICH | Rung.SPLIT:
                return [part.payload for part in self._in_blocks(response, question, rung)]
            case Rung.PLAIN:
                return [json.dumps({"text": text}) for text in plain_parts(response, question)]
            case Rung.FILE:
                return [as_file(response, question)]

    def _in_blocks(
        self, response: AgentResponse, question: IncomingQuestion, rung: Rung
    ) -> list[SlackPart]:
        text = "\n\n".join([*notes(response, question), with_bold_marks(response)])
        if rung is Rung.RICH:
            parts = markdown_parts(text, MARKDOWN_LIMIT) or [NOTHING_TO_SHOW]
            messages = [SlackPart.of_markdown(part) for part in parts]
        else:
            messages = packed(mrkdwn_parts(text, SECTION_LIMIT) or [NOTHING_TO_SHOW])
        for below in sections_of(response, question):
            if messages[-1].size + len(below) > BLOCKS_LIMIT - BUTTON_ROOM:
                messages.append(SlackPart())
            messages[-1] = messages[-1].with_section(below)
        if presses := self._buttons(response, question, rung):
            messages[-1] = messages[-1].with_blocks(presses)
        return messages

    def _buttons(
        self, response: AgentResponse, question: IncomingQuestion, rung: Rung
    ) -> list[Block]:
        return buttons(
            response,
            question,
            has_staff=self.has_staff,
            native=rung is Rung.RICH,
        )


@dataclass(frozen=True, slots=True)
class SlackPart:
    """One message: its blocks, and the same in text for notifications and screen readers."""

    text: str = ""
    blocks: tuple[Block, ...] = ()
    size: int = 0

    @classmethod
    def of_markdown(cls, markdown: str) -> SlackPart:
        block = {"type": "markdown", "text": markdown}
        return cls(fallback(markdown, TEXT_LIMIT), (block,), len(markdown))

    def with_section(self, mrkdwn: str) -> SlackPart:
        text = f"{self.text}\n\n{mrkdwn}".strip()
        fits = len(text) <= TEXT_LIMIT
        return SlackPart(
            text if fits else self.text, (*self.blocks, section(mrkdwn)), self.size + len(mrkdwn)
        )

    def with_blocks(self, blocks: Sequence[Block]) -> SlackPart:
        return SlackPart(self.text, (*self.blocks, *blocks), self.size)

    @property
    def payload(self) -> str:
        return json.dumps({"text": self.text, "blocks": self.blocks}, ensure_ascii=False)


def notes(response: AgentResponse, question: IncomingQuestion) -> Iterator[str]:
    """What must be said before an answer."""
    own, common = phrases_for(question), common_phrases(question)
    if question.address.get(IMAGES):
        yield own.unread
    if response.source_changed:
        yield f"*{common.changed}*"
    if response.outcome is Outcome.LOW_CONFIDENCE and not quoted_sections(response.answer):
        yield own.caution


def quoted_note(response: AgentResponse, question: IncomingQuestion) -> Iterator[str]:
    """How many sections an answer was quoted from, where it has no words of its own."""
    sections = quoted_sections(response.answer)
    if sections and response.outcome is Outcome.COMPLETED:
        yield common_phrases(question).quoted(sections)


def packed(sections: Sequence[str]) -> list[SlackPart]:
    """As few messages as will do."""
    messages = [SlackPart()]
    for piece in sections:
        if messages[-1].size + len(piece) > MARKDOWN_LIMIT:
            messages.append(SlackPart())
        messages[-1] = messages[-1].with_section(piece)
    return messages


def sections_of(response: AgentResponse, question: IncomingQuestion) -> Iterator[str]:
    """Footnotes and suggestions, in pieces that a section takes."""
    common = common_phrases(question)
    yield from gathered(
        [
            *(f"_{note}_" for note in quoted_note(response, question)),
            *(footnote(citation) for citation in response.citations),
        ]
    )
    if response.suggestions:
        head = f"*{common.suggested}*"
        yield from gathered([head, *(suggestion(near) for near in response.suggestions)])
    if (before := response.asked_before) is not None:
        yield f"{common.asked_before} {link(day_of(before), address_of(before))}"


def plain_parts(response: AgentResponse, question: IncomingQuestion) -> list[str]:
    """Text alone, sources as plain lines."""
    text = "\n\n".join([*notes(response, question), with_bold_marks(response)])
    parts = mrkdwn_parts(text, PLAIN_LIMIT) or [NOTHING_TO_SHOW]
    for below in gathered_plainly(response, question):
        if len(parts[-1]) + len(below) + 2 <= PLAIN_LIMIT:
            parts[-1] += f"\n\n{below}"
        else:
            parts.append(below)
    return parts


def gathered_plainly(response: AgentResponse, question: IncomingQuestion) -> Iterator[str]:
    """The same as below an answer in blocks, with addresses to be read."""
    common = common_phrases(question)
    sources = [f"[{c.number}] {plain_link(place_of(c), c.page_url)}" for c in response.citations]
    yield from gathered([*quoted_note(response, question), *sources])
    if response.suggestions:
        near = [f"• {escaped(one_line(place_of(s), LONGEST_TITLE))}" for s in response.suggestions]
        yield from gathered([common.suggested, *near])
    if (before := response.asked_before) is not None:
        yield f"{common.asked_before} {plain_link(day_of(before), address_of(before))}"


def plain(response: AgentResponse, question: IncomingQuestion) -> str:
    common = common_phrases(question)
    said = [note.replace("*", "") for note in notes(response, question)]
    sources = [
        f"[{c.number}] {place_of(c)}" + (f" — {c.page_url}" if c.page_url else "")
        for c in response.citations
    ]
    near = [f"• {place_of(s)}" for s in response.suggestions]
    if near:
        near.insert(0, common.suggested)
    before = response.asked_before
    earlier = [f"{common.asked_before} {day_of(before)} — {address_of(before)}"] if before else []
    sources = [*quoted_note(response, question), *sources]
    below = map("\n".join, (sources, near, earlier))
    return "\n\n".join(part for part in [*said, response.answer, *below] if part)


def as_file(response: AgentResponse, question: IncomingQuestion) -> str:
    content = plain(response, question)
    return json.dumps(
        {
            "text": phrases_for(question).in_the_file,
            "file": {"name": FILE_NAME, "content": content},
        },
        ensure_ascii=False,
    )


def day_of(thread: EarlierThread) -> str:
    return f"{thread.asked_at:%Y-%m-%d}"


def footnote(citation: Citation) -> str:
    return f"[{citation.number}] {link(place_of(citation), citation.page_url)}"


def suggestion(near: Suggestion) -> str:
    return f"• {link(place_of(near), near.page_url)}"


def place_of(place: Citation | Suggestion) -> str:
    """Title › section, as the reader finds it on the page."""
    return whereabouts(place.page_title, place.section_heading) or "Untitled page"
