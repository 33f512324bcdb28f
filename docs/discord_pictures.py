"""Draws docs/images/discord-*.svg from the JSON of a real answer on standard input.

The messages are the payloads that Discord is sent: only fonts and colours are ours."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import Any
from uuid import UUID

from adapters.discord.acting.evidence import evidence
from adapters.discord.answering.post import Post
from adapters.discord.answering.progress import SIGNS, WORDS
from adapters.discord.answering.renderer import DiscordRenderer
from rag_core.agent.answer import AgentResponse, Citation, Outcome, Source
from rag_core.agent.checks.guard import guarded
from rag_core.agent.confidence.level import ConfidenceLevel
from rag_core.conversation.key import ConversationKey, Platform, TenantId
from rag_core.conversation.question import Question
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.progress import QuestionState

WIDTH, LEFT, LINE, COLUMNS = 760, 76, 22, 84
FONT = "'gg sans','Noto Sans','Helvetica Neue',Helvetica,Arial,sans-serif"
BACK, TEXT, GREY, LINK, BUTTON, RED, BOT = (
    "#313338", "#dbdee1", "#949ba4", "#00a8fc", "#4e5058", "#da373c", "#5865f2"
)  # fmt: skip
MASKED = re.compile(r"\[([^\]]+)\]\(<[^>]+>\)")
COLOURS = {2: BUTTON, 3: "#248046", 4: RED}
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Said:
    """One message of a picture."""

    name: str
    content: str
    components: Sequence[Any] = ()
    is_bot: bool = True
    note: str = ""


def main() -> None:
    told = json.load(sys.stdin)
    response, question = answer_in(told), question_in(told)
    posts = [
        Post.read(payload)
        for payload in DiscordRenderer(with_buttons=True, staffed={"1"}).render(response, question)
    ]
    asked = Said("alice", f"@Footnote {told['query']}", is_bot=False)
    answers = [Said("Footnote", post.content, post.components) for post in posts]
    writing = f"-# {SIGNS[QuestionState.GENERATING]} {WORDS[QuestionState.GENERATING]}"
    begun = Said("Footnote", f"{response.answer[:60].rsplit(' ', 1)[0]}\n{writing}")
    private = "Only you can see this"
    shown = [Said("Footnote", text, note=private) for text in evidence(response)]
    draw("progress", [asked, begun])
    draw("answer", [asked, *answers])
    draw("evidence", shown)


def draw(name: str, messages: Sequence[Said]) -> None:
    body, height = "", 18
    for message in messages:
        drawn, height = drawn_at(message, height)
        body += drawn
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}"'
        f' font-family="{FONT}" font-size="15"><rect width="100%" height="100%" rx="8"'
        f' fill="{BACK}"/>{body}</svg>\n'
    )
    Path(f"docs/images/discord-{name}.svg").write_text(svg, encoding="utf-8")


def drawn_at(message: Said, top: int) -> tuple[str, int]:
    colour = BOT if message.is_bot else "#3ba55d"
    body = f'<circle cx="38" cy="{top + 20}" r="20" fill="{colour}"/>'
    body += text(32, top + 26, message.name[0].upper(), fill="#fff", weight="bold")
    body += text(LEFT, top + 14, message.name, fill="#fff", weight="bold")
    if message.is_bot:
        body += f'<rect x="{LEFT + 78}" y="{top}" width="36" height="17" rx="4" fill="{BOT}"/>'
        body += text(LEFT + 84, top + 13, "APP", fill="#fff", size=11, weight="bold")
    y = top + 14
    for line in lines_of(message.content):
        y += LINE
        body += line_at(y, line)
    y += 12
    for row in message.components:
        body += row_at(y, row["components"])
        y += 42
    if message.note:
        body += text(LEFT, y + 12, message.note, fill=GREY, size=12)
        y += 18
    return body, y + 18


def lines_of(content: str) -> Iterator[str]:
    for line in content.split("\n"):
        plain = MASKED.sub(r"\1", line)
        yield from [line] if len(plain) <= COLUMNS else wrap(line, COLUMNS)


def line_at(y: int, line: str) -> str:
    """Small print, quotes, links and all else, as Discord shows them."""
    if line.startswith("-# "):
        return text(LEFT, y, line[3:], fill=GREY, size=12)
    if line.startswith("> "):
        bar = f'<rect x="{LEFT}" y="{y - 15}" width="4" height="20" rx="2" fill="{BUTTON}"/>'
        return bar + text(LEFT + 14, y, line[2:])
    pieces, end = "", 0
    for found in MASKED.finditer(line):
        pieces += span(line[end : found.start()]) + span(found[1], fill=LINK)
        end = found.end()
    pieces += span(line[end:])
    return f'<text x="{LEFT}" y="{y}" fill="{TEXT}" xml:space="preserve">{pieces}</text>'


def row_at(y: int, items: Sequence[Any]) -> str:
    body, x = "", LEFT
    for item in items:
        width = 26 + round(7.6 * len(item["label"]))
        colour = COLOURS[item["style"]]
        body += f'<rect x="{x}" y="{y}" width="{width}" height="32" rx="4" fill="{colour}"/>'
        body += text(x + 13, y + 21, item["label"], fill="#fff", size=14)
        x += width + 8
    return body


def text(
    x: int, y: int, words: str, *, fill: str = TEXT, size: int = 15, weight: str = "normal"
) -> str:
    return (
        f'<text x="{x}" y="{y}" fill="{fill}" font-size="{size}" font-weight="{weight}"'
        f' xml:space="preserve">{escape(unescaped(words))}</text>'
    )


def span(words: str, *, fill: str = TEXT) -> str:
    return f'<tspan fill="{fill}">{escape(unescaped(words))}</tspan>'


def unescaped(words: str) -> str:
    return re.sub(r"\\([\\`*_~|<>#])", r"\1", words.replace("\u200b", "").replace("`", ""))


def answer_in(told: Any) -> AgentResponse:
    """The answer as the command line printed it."""
    return AgentResponse(
        answer_id=UUID(told["answer_id"]),
        answer=guarded(told["answer"]),
        query=told["query"],
        session_id=UUID(told["session_id"]),
        outcome=Outcome(told["outcome"]),
        confidence=told["confidence"],
        confidence_level=ConfidenceLevel(told["confidence_level"]),
        model=told["model"],
        created_at=NOW,
        citations=tuple(Citation(**each) for each in told["citations"]),
        sources=tuple(Source(**each) for each in told["sources"]),
    )


def question_in(told: Any) -> IncomingQuestion:
    key = ConversationKey(
        platform=Platform.DISCORD, tenant=TenantId("1"), channel_id="2", thread_id="3"
    )
    return IncomingQuestion(
        key=key,
        message_id="3",
        asker_id="4",
        question=Question(message=told["query"]),
        heard_at=NOW,
        position="3",
    )


main()
