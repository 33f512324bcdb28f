"""A Markdown text cut into its code and everything else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rag_core.agent.language.blocks import INLINE_CODE, BlockKind, block_lines


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of text that is code, or is not."""

    text: str
    is_code: bool


def code_spans(text: str) -> tuple[Span, ...]:
    """The text cut into code (fenced blocks, inline spans) and everything else, in order."""
    return tuple(span for block in prose_and_fences(text) for span in inline_spans(block))


def prose_and_fences(text: str) -> Iterator[Span]:
    prose: list[str] = []
    for block in block_lines(text.splitlines(keepends=True)):
        if block.kind is not BlockKind.CODE:
            prose.append(block.text)
            continue
        if prose:
            yield Span("".join(prose), is_code=False)
            prose = []
        yield Span(block.text, is_code=True)
    if prose:
        yield Span("".join(prose), is_code=False)


def inline_spans(span: Span) -> Iterator[Span]:
    if span.is_code:
        yield span
        return
    end = 0
    for found in INLINE_CODE.finditer(span.text):
        if found.start() > end:
            yield Span(span.text[end : found.start()], is_code=False)
        yield Span(found.group(), is_code=True)
        end = found.end()
    if end < len(span.text):
        yield Span(span.text[end:], is_code=False)
