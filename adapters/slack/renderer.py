"""An answer → Slack messages: Markdown parts, footnotes on the last one. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.slack.events import SHORTENED
from adapters.slack.markdown import fallback, link, to_slack_markdown
from adapters.splitting import split_text
from rag_core.agent.answer import AgentResponse, Citation, Outcome, Suggestion
from rag_core.conversation.question import MAX_QUESTION
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.outgoing import Rung

MARKDOWN_LIMIT = 10_000
"""Slack takes 12,000 characters of Markdown in a message; what is left is for the footnotes."""
BLOCKS_LIMIT = 13_000
"""Slack takes about 13,200 characters in all blocks of a message."""
SECTION_LIMIT = 2_800
SPLIT_LIMIT = 3_000
"""Of a part that Slack is offered after it has refused a longer one."""
TEXT_LIMIT = 39_000
CAUTION = "⚠️ *I am not sure of this:* the documents cover it only in part. Check the footnotes."
NOTE = (
    f"*Your message was longer than {MAX_QUESTION:,} characters, so I read its question and the"
    " ends of what was pasted.*"
)
NOTHING_TO_SHOW = "(The answer has no text that can be shown.)"
SUGGESTED = "*Maybe look here*"
Block = dict[str, Any]


class SlackRenderer:
    """Writes an answer as payloads of chat.postMessage: the same answer, the same parts."""

    def render(
        self, response: AgentResponse, question: IncomingQuestion, *, rung: Rung = Rung.RICH
    ) -> Sequence[str]:
        if rung in {Rung.PLAIN, Rung.FILE}:
            return plain_parts(response, question)
        limit = MARKDOWN_LIMIT if rung is Rung.RICH else SPLIT_LIMIT
        messages = [SlackPart.of_markdown(part) for part in parts_of(response, question, limit)]
        for section in sections_of(response):
            if messages[-1].size + len(section) > BLOCKS_LIMIT:
                messages.append(SlackPart())
            messages[-1] = messages[-1].with_section(section)
        return [message.payload for message in messages]


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
        block = {"type": "section", "text": {"type": "mrkdwn", "text": mrkdwn}}
        text = f"{self.text}\n\n{mrkdwn}".strip()
        fits = len(text) <= TEXT_LIMIT
        return SlackPart(
            text if fits else self.text, (*self.blocks, block), self.size + len(mrkdwn)
        )

    @property
    def payload(self) -> str:
        return json.dumps({"text": self.text, "blocks": self.blocks}, ensure_ascii=False)


def plain_parts(response: AgentResponse, question: IncomingQuestion) -> list[str]:
    """The answer as text alone, its footnotes as lines below it."""
    lines = [*parts_of(response, question, SPLIT_LIMIT), *sections_of(response)]
    texts = (fallback(line, TEXT_LIMIT) for line in lines)
    return [json.dumps({"text": text, "blocks": []}, ensure_ascii=False) for text in texts]


def parts_of(
    response: AgentResponse, question: IncomingQuestion, limit: int = MARKDOWN_LIMIT
) -> list[str]:
    """The answer with what must be said before it, cut to what one message takes."""
    before = []
    if question.address.get(SHORTENED):
        before.append(NOTE)
    if response.outcome is Outcome.LOW_CONFIDENCE:
        before.append(CAUTION)
    markdown = "\n\n".join([*before, to_slack_markdown(response.answer)])
    return split_text(markdown, limit) or [NOTHING_TO_SHOW]


def sections_of(response: AgentResponse) -> Iterator[str]:
    """Footnotes and suggestions, in pieces that a section takes."""
    yield from _gathered([footnote(citation) for citation in response.citations])
    if response.suggestions:
        yield from _gathered([SUGGESTED, *(suggestion(near) for near in response.suggestions)])


def footnote(citation: Citation) -> str:
    return f"[{citation.number}] {link(place_of(citation), citation.page_url)}"


def suggestion(near: Suggestion) -> str:
    return f"• {link(place_of(near), near.page_url)}"


def place_of(place: Citation | Suggestion) -> str:
    """Title › section, as the reader finds it on the page."""
    title, section = place.page_title.strip(), place.section_heading.strip()
    names = [title] if section in {"", title} else [title, section]
    return " › ".join(name for name in names if name) or "Untitled page"


def _gathered(lines: Sequence[str]) -> Iterator[str]:
    """Lines put together, never cut, to as few pieces as a section's limit allows."""
    piece = ""
    for line in lines:
        if piece and len(piece) + len(line) + 1 > SECTION_LIMIT:
            yield piece
            piece = ""
        piece = f"{piece}\n{line}" if piece else line
    if piece:
        yield piece
