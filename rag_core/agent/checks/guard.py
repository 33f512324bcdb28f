"""The last gate: nothing leaves for a platform that has not passed here."""

from __future__ import annotations

from rag_core.text.lines import with_marks
from rag_core.text.reading import read_markdown
from rag_core.text.tree import Blocks, with_lines
from rag_core.text.writing import MarkdownWriter

MAX_ROUNDS = 3
"""How often a text is read and written until it stays the same; once as a rule."""


class GuardedText(str):
    """Text that the guard let through; platforms accept no other. Only `guarded` makes it."""

    __slots__ = ()


def guarded(text: str) -> GuardedText:
    """Text that can do nothing but be read: no live link, no image, no mention, no trick.

    It is read into the tree of what may be shown, and written from there. What is written must be
    read as the same tree again, or it is written with more care."""
    return GuardedText(write_stable(read_markdown(text)))


def write_stable(blocks: Blocks) -> str:
    """The tree as Markdown that is read as this tree and no other, and written the same again."""
    for writer in (MarkdownWriter(), MarkdownWriter(cautious=True)):
        text = writer.write(blocks)
        for _ in range(MAX_ROUNDS):
            again = read_markdown(text)
            if again != blocks:
                break
            before, text = text, MarkdownWriter().write(again)
            if text == before:
                return text
    plain = with_lines(blocks, lambda line: with_marks(line, ()))
    return MarkdownWriter(cautious=True).write(plain)
