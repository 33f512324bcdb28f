"""Headings that nobody marked as such: lines in bold, and the questions of an FAQ."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag_core.ingestion.blocks import Block, Kind

BOLD = re.compile(r"(\*\*|__)(?=\S)([^\n]{1,200}?)(?<=\S)\1([?？:]?)\\?")
ASKS = re.compile(r"(?:Q|Question|F|Frage)[ \t]?\d{0,3}[ \t]*[.:)][ \t]+(?=\S)")
"""How a question is marked that has an answer below it."""
ANSWERS = re.compile(r"(\*\*|__)?(?:A|Answer|Antwort)[ \t]?\d{0,3}[ \t]*[.:](?(1)\1)[ \t]+(?=\S)")
FIRST = frozenset("*_QF")
"""What a line begins with that either of these is: others need no closer look."""
QUESTION_ENDS = ("?", "？")
NO_TITLE_ENDS = (".", ",", ";", ":", "!", "。", "、", "：", "！")
LONGEST_TITLE = 80
LONGEST_QUESTION = 200
FEWEST = 2
"""One alone may stress a word; several are how the page was divided."""
LEVEL = 6
"""Below every heading that is marked."""


@dataclass(frozen=True, slots=True)
class Title:
    """A line that may be a heading."""

    words: str
    is_question: bool
    is_asked: bool
    """Whether a mark before it says that an answer follows."""


def titled(blocks: Sequence[Block]) -> list[Block]:
    """The blocks, with unmarked headings as headings where the page is divided by them."""
    titles = [title for block in blocks for title in titles_in(block)]
    has_questions = sum(title.is_question for title in titles) >= FEWEST
    is_bare = sum(block.kind is Kind.HEADING for block in blocks) < FEWEST
    has_titles = is_bare and len(titles) >= FEWEST
    if not has_questions and not has_titles:
        return list(blocks)
    found: list[Block] = []
    for block in blocks:
        wanted = {
            title
            for title in titles_in(block)
            if has_titles or (title.is_question and has_questions)
        }
        found += divided(block, wanted) if wanted else [answer(block, found)]
    return found


def titles_in(block: Block) -> Iterator[Title]:
    if block.kind is not Kind.TEXT:
        return
    lines = block.text.split("\n")
    for number, line in enumerate(lines):
        title = title_of(line.strip())
        if title and (title.is_asked or (number == 0 and (title.is_question or len(lines) == 1))):
            yield title


def title_of(line: str) -> Title | None:
    """A line in bold, or a question that is marked as one."""
    if line[:1] not in FIRST:
        return None
    bold = BOLD.fullmatch(line)
    words = f"{bold[2]}{bold[3]}" if bold else line
    asked = ASKS.match(words)
    words = words[asked.end() :] if asked else words
    if words.endswith(QUESTION_ENDS) and (bold or asked) and len(words) <= LONGEST_QUESTION:
        return Title(words, is_question=True, is_asked=asked is not None)
    is_title = bold and not words.endswith(NO_TITLE_ENDS) and len(words) <= LONGEST_TITLE
    return Title(words, is_question=False, is_asked=False) if is_title else None


def divided(block: Block, wanted: set[Title]) -> Iterator[Block]:
    """A paragraph in its headings and what stands below each."""
    rest: list[str] = []
    gap, below = block.gap, False
    for line in block.text.split("\n"):
        title = title_of(line.strip())
        if title is None or title not in wanted:
            rest.append(without_mark(line) if below and not rest else line)
            continue
        if rest:
            yield Block(Kind.TEXT, "\n".join(rest), gap)
        yield Block(Kind.TITLE, title.words, gap if not rest else 2, level=LEVEL)
        rest, gap, below = [], 1, True
    if rest:
        yield Block(Kind.TEXT, "\n".join(rest), gap)


def answer(block: Block, before: Sequence[Block]) -> Block:
    """A paragraph below a question, without the mark that it is the answer."""
    if not before or before[-1].kind is not Kind.TITLE or block.kind is not Kind.TEXT:
        return block
    return Block(Kind.TEXT, without_mark(block.text), block.gap)


def without_mark(text: str) -> str:
    marked = ANSWERS.match(text.lstrip())
    return text.lstrip()[marked.end() :] if marked else text
