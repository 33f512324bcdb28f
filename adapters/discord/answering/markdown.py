"""Markdown as everybody writes it → the part of it that Discord shows."""

from __future__ import annotations

import re

from adapters.discord.wording import harmless
from adapters.markdown_blocks import BlockKind, blocks_of
from rag_core.agent.language.blocks import code_spans

FENCE = "```"
TILDES = re.compile(r"^([ \t>]*)~{3,}")
CLOSING = re.compile(r"^[ \t>]*~{3,}[ \t]*$")


def to_discord_markdown(text: str) -> str:
    """The same text with mentions that come out as words; code stays as it is."""
    spans = code_spans(text)
    return "".join(_code(span.text) if span.is_code else harmless(span.text) for span in spans)


def _code(text: str) -> str:
    """Discord knows no fences of tildes."""
    lines = text.split("\n")
    if not TILDES.match(lines[0]):
        return text
    if FENCE in text:
        return harmless(text)
    lines[0] = TILDES.sub(rf"\1{FENCE}", lines[0])
    last = max(number for number, line in enumerate(lines) if line.strip())
    if last and CLOSING.match(lines[last]):
        lines[last] = TILDES.sub(rf"\1{FENCE}", lines[last])
    return "\n".join(lines)


def with_tables_fenced(text: str, limit: int) -> str:
    """Discord shows no tables: in a code block their columns at least stand below each other."""
    shown, end = "", 0
    for block in blocks_of(text):
        if block.kind is BlockKind.TABLE and FENCE not in text[block.start : block.end]:
            shown += f"{text[end : block.start]}{FENCE}\n{text[block.start : block.end]}\n{FENCE}"
            end = block.end
    shown += text[end:]
    return shown if len(shown) <= limit else text
