"""An answer in the documents' own words: the sections that answer, quoted, the words marked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from rag_core.agent.answer import Citation, Mark
from rag_core.agent.phrases import Phrases
from rag_core.agent.verification.footnotes import citation_of
from rag_core.reading.excerpts import (
    MOST_SECTIONS,
    Excerpt,
    best_blocks,
    best_lines,
)
from rag_core.reading.sections import ReadSection
from rag_core.reading.units import plain_unit
from rag_core.retrieval.results import SearchResult
from rag_core.retrieval.whereabouts import whereabouts
from rag_core.text.lines import tidy_line
from rag_core.text.reading import read_markdown
from rag_core.text.tree import ESCAPE, Emphasis, Inline, Inlines, LineBreak, Quote, Text, with_lines
from rag_core.text.visible import visible
from rag_core.text.writing import MarkdownWriter

ROOM = 115
"""Words that one question is answered in, where no single block is longer."""
ROOM_OF_SEVERAL = 90
"""The same for each of several questions."""
ROOM_OF_BEST, ROOM_OF_OTHERS = 85, 15
"""Words of what answers best, and of each other section, where it is not sure that one answers."""
FOREIGN_MARKER = re.compile(rf"{ESCAPE}?\[(\^?\d{{1,4}}){ESCAPE}?\]")
MARKDOWN = re.compile(r"[\\`*_\[\]<>#|~&]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One of the questions of a message, and the sections that were read for it."""

    question: str
    sections: Sequence[ReadSection]


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageAnswer:
    """A text in Markdown with one marker for each section that it quotes."""

    text: str
    citations: tuple[Citation, ...] = ()
    marks: tuple[Mark, ...] = ()


def passage_answer(
    answered: Iterable[Asked], phrases: Phrases, *, open_questions: Sequence[str] = ()
) -> PassageAnswer:
    """The blocks that answer each question, of up to three sections; the questions that the
    documents leave open are named."""
    groups = [asked.sections for asked in answered]
    room = ROOM if len(groups) == 1 else ROOM_OF_SEVERAL
    excerpts = [
        excerpt
        for sections in groups
        for excerpt in best_blocks(sections, room=room, more=phrases.more)
    ]
    missing = [phrases.part_not_covered.format(part=each.strip(" ?.!")) for each in open_questions]
    return quoted(excerpts, after=missing)


def nearest_sections(asked: Iterable[Asked], phrases: Phrases) -> PassageAnswer:
    """The sections that come nearest, where no answer is sure: the blocks that answer best, and the
    best lines of the other sections."""
    groups = [each.sections for each in asked]
    room = ROOM_OF_BEST if len(groups) == 1 else ROOM_OF_SEVERAL
    shown = [
        excerpt
        for sections in groups
        for excerpt in best_blocks(sections, room=room, more=phrases.more, longest=room)
    ]
    keys = {excerpt.section.key for excerpt in shown}
    others = [section for group in zip_longest(*groups) for section in group if section]
    for section in others:
        if len(shown) < MOST_SECTIONS and section.key not in keys:
            keys.add(section.key)
            shown.append(best_lines(section, room=ROOM_OF_OTHERS, more=phrases.more))
    return quoted(shown, before=[phrases.nearest])


def quoted(
    excerpts: Sequence[Excerpt], *, before: Sequence[str] = (), after: Sequence[str] = ()
) -> PassageAnswer:
    """Each section as a quotation below its place in the documents; a section is quoted once."""
    each_once: dict[tuple[str, str], Excerpt] = {}
    for excerpt in excerpts:
        each_once.setdefault(excerpt.section.key, excerpt)
    shown = list(each_once.values())
    parts = [quotation(excerpt, number) for number, excerpt in enumerate(shown, start=1)]
    return PassageAnswer(
        text="\n\n".join([*before, *parts, *after]) if parts else "",
        citations=tuple(citation(excerpt, n) for n, excerpt in enumerate(shown, start=1)),
        marks=tuple(Mark(number=n, quote=quote_of(e)) for n, e in enumerate(shown, start=1)),
    )


def quotation(excerpt: Excerpt, number: int) -> str:
    """A line that names the section, and below it the excerpt as a block quote."""
    place = f"**{plain_words(place_of(excerpt.section.result))}** [{number}]"
    body = with_lines(read_markdown(excerpt.text), as_quoted_line)
    return f"{place}\n{MarkdownWriter().write((Quote(blocks=body),))}"


def as_quoted_line(line: Inlines) -> Inlines:
    """Without the line ends of the source file, which chats would show, and without `[3]`, which is
    no footnote of the answer."""
    return tidy_line(map(as_quoted_piece, line))


def as_quoted_piece(piece: Inline) -> Inline:
    match piece:
        case LineBreak(hard=False):
            return Text.of(" ")
        case Text():
            return Text.of(FOREIGN_MARKER.sub(r"(\1)", piece.marked))
        case Emphasis():
            return Emphasis(piece.mark, tuple(map(as_quoted_piece, piece.children)))
        case _:
            return piece


def place_of(result: SearchResult) -> str:
    where = whereabouts(visible(result.page_title), visible(result.section_heading))
    return where or visible(result.source_file)


def plain_words(text: str) -> str:
    """Words in which nothing means anything in Markdown."""
    return MARKDOWN.sub(r"\\\g<0>", " ".join(text.split()))


def quote_of(excerpt: Excerpt) -> str:
    return plain_unit(excerpt.quote) or plain_unit(excerpt.text)


def citation(excerpt: Excerpt, number: int) -> Citation:
    return citation_of(excerpt.section.result, number=number, quote=quote_of(excerpt))
