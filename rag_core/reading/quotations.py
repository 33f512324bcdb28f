"""Answers that quote whole sections: how many, and the quoted words that answer in bold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from rag_core.agent.answer import AgentResponse
from rag_core.text.reading import read_markdown
from rag_core.text.tree import Block, Emphasis, Paragraph, Quote, Text

MARKER_END = re.compile(r"\s*\[(\d{1,3})\]\Z")
PLAIN = re.compile(r"[\w\s.,;:?!'’“”\"()/%–—-]*")
"""Words in which bold marks change nothing but the weight."""
QUOTE_LINE = "> "


def quoted_sections(answer: str) -> int:
    """How many sections an answer quotes below their names; 0: it has words of its own."""
    blocks = read_markdown(answer)
    quoted = [
        isinstance(quote, Quote) and names_section(place) for place, quote in pairwise(blocks)
    ]
    quotes = sum(isinstance(block, Quote) for block in blocks)
    only_these = all(isinstance(block, Quote | Paragraph) for block in blocks)
    return quotes if only_these and quotes == sum(quoted) else 0


def names_section(block: Block) -> bool:
    """Whether a line is a bold name with a marker behind it."""
    return (
        isinstance(block, Paragraph)
        and len(block.children) == 2
        and isinstance(block.children[0], Emphasis)
        and isinstance(block.children[1], Text)
        and MARKER_END.fullmatch(block.children[1].text) is not None
    )


def with_bold_marks(response: AgentResponse) -> str:
    """The answer with the words that answer in bold, where they are plain prose."""
    if not quoted_sections(response.answer):
        return response.answer
    return "\n".join(bold_lines(response.answer.split("\n"), quotes_by_number(response)))


def quotes_by_number(response: AgentResponse) -> Mapping[int, str]:
    """The words that answer in each quoted section, by its footnote."""
    quotes = {note.number: note.quote for note in response.citations}
    return quotes | {mark.number: mark.quote for mark in response.marks}


def bold_lines(lines: Sequence[str], quotes: Mapping[int, str]) -> Iterator[str]:
    """Quotations are told apart by the markers of the lines above them."""
    sought = ""
    for line in lines:
        if not line.startswith(">"):
            found = MARKER_END.search(line)
            sought = quotes.get(int(found[1]), "") if found else ""
        elif sought and (bold := with_bold(line, sought)):
            sought = ""
            yield bold
            continue
        yield line


def with_bold(line: str, words: str) -> str:
    """A line of prose with these words in bold; empty where they do not stand there plainly."""
    words = " ".join(words.split())
    prose = line.removeprefix(QUOTE_LINE)
    before, found, after = prose.partition(words)
    is_plain = PLAIN.fullmatch(prose) and not prose.startswith((" ", "-"))
    is_whole = not before[-1:].strip() and not after[:1].strip()
    if not found or not is_plain or not is_whole or not words[:1].isalnum():
        return ""
    return f"{QUOTE_LINE}{before}**{words}**{after}"
