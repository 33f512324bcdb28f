"""A page as its headings divide it: which of its chunks belong together, and how they read."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import pairwise, takewhile
from typing import NamedTuple

from rag_core.retrieval.results import SearchResult

CRUMB = " › "
SECTION_TOKENS = 500
"""What a section has at most, the chunk that was found excepted."""
TREE_TOKENS = 400
"""The same for a section with the sections below it."""
LIST_TOKENS = 900
"""The same for a list or a table that was cut in two: half of the steps is no answer."""
SMALL_TOKENS = 60
"""A section below this says too little alone: it comes with all that stands beside it."""
BESIDE_TOKENS = 260
"""What a section that was joined with others beside it has at most."""
TOKENS_PER_WORD = 1.3
BYTES_PER_TOKEN = 6
ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,9}[.)])\s")
TABLE_ROW = re.compile(r"\s*\|")
TABLE_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
NUMBER = re.compile(r"\D{0,12}?(\d{1,3})\b")
"""At the beginning of a heading: `Step 2: …`, `2. …`."""

Trail = tuple[str, ...]
"""The page's title and the headings above a chunk."""


class Span(NamedTuple):
    """Chunks of a page in a row."""

    first: int
    end: int

    def __contains__(self, place: object) -> bool:
        return isinstance(place, int) and self.first <= place < self.end

    def up_to(self, other: Span) -> Span:
        """Both of them with what stands between."""
        return Span(min(self.first, other.first), max(self.end, other.end))


class Section(NamedTuple):
    """Chunks that are read together, the heading they stand under, and what it has besides."""

    span: Span
    trail: Trail
    whole: Span
    """Of which `span` may be a part, where the section is long."""

    def with_next(self, trail: Trail) -> Section:
        """The same with the next chunk, which stands under these headings."""
        span = Span(self.span.first, self.span.end + 1)
        return Section(span, shared(self.trail, trail), span.up_to(self.whole))


class Page:
    """The chunks of one page, in order."""

    def __init__(self, chunks: Sequence[SearchResult]) -> None:
        self.chunks = chunks
        self.trails: list[Trail] = [tuple(each.breadcrumb.split(CRUMB)) for each in chunks]
        self._tokens = [tokens_of(each) for each in chunks]
        self._places = {each.chunk_id: place for place, each in enumerate(chunks)}

    def place_of(self, chunk_id: str) -> int | None:
        return self._places.get(chunk_id)

    def section(
        self, place: int, *, within: Span | None = None, found: Collection[int] = ()
    ) -> Section:
        """The section that a chunk belongs to, as far as it lies within these bounds; with other
        sections close by that were found as well."""
        bounds = within or Span(0, len(self.chunks))
        section = self._section_of(place, bounds)
        for other in found:
            if other in bounds and other not in section.span:
                section = self._joined(section, self._section_of(other, bounds)) or section
        return section

    def _section_of(self, place: int, bounds: Span) -> Section:
        trail = self.trails[place]
        whole = self._below(trail, place, bounds)
        if self._size(whole) > TREE_TOKENS:
            own = self._under(place, bounds)
            if self._size(own) >= SMALL_TOKENS:
                whole = own
        while len(trail) > 1 and (above := self._read_with(trail, whole, bounds)):
            trail, whole = trail[:-1], above
        section = Section(self._fitting(whole, place), trail, whole)
        while (last := section.span.end - 1) + 1 < bounds.end and self._leads_on(section, last):
            section = section.with_next(self.trails[last + 1])
        return section

    def _leads_on(self, section: Section, last: int) -> bool:
        """Whether a section ends with a line that only leads to what stands below it."""
        is_open = self.chunks[last].text.endswith((":", "："))
        return is_open and self._size(section.span.up_to(Span(last, last + 2))) <= SECTION_TOKENS

    def _joined(self, one: Section, other: Section) -> Section | None:
        """Both sections and what stands between them, if that is short and of one subject."""
        trail = shared(one.trail, other.trail)
        span = one.span.up_to(other.span)
        if not trail or self._size(span) > BESIDE_TOKENS:
            return None
        return Section(span, trail, span.up_to(one.whole).up_to(other.whole))

    def _read_with(self, trail: Trail, whole: Span, bounds: Span) -> Span | None:
        """The section above, where this one opens it, is a step of it, or says too little alone."""
        above = self._below(trail[:-1], whole.first, bounds)
        size = self._size(above)
        reads_on = (
            (size <= TREE_TOKENS and opens_section_above(self.chunks[whole.first], trail))
            or (size <= BESIDE_TOKENS and above != whole and self._size(whole) < SMALL_TOKENS)
            or (size <= SECTION_TOKENS and self._is_step(len(trail) - 1, whole, above))
        )
        return above if reads_on else None

    def _is_step(self, depth: int, whole: Span, above: Span) -> bool:
        """Whether the headings of a section and of one beside it count on: Step 1, Step 2."""
        headings = [
            self.trails[at][depth]
            for at in range(above.first, above.end)
            if len(self.trails[at]) > depth
        ]
        own = self.trails[whole.first][depth]
        return any(own in pair and count_on(*pair) for pair in pairwise(dict.fromkeys(headings)))

    def _under(self, place: int, bounds: Span) -> Span:
        """The chunks of the same heading."""
        trail, url = self.trails[place], self.chunks[place].page_url
        return self._around(
            place,
            bounds,
            lambda at: self.trails[at] == trail and self.chunks[at].page_url == url,
        )

    def _below(self, trail: Trail, place: int, bounds: Span) -> Span:
        """The chunks of a heading and of all headings below it."""
        return self._around(place, bounds, lambda at: self.trails[at][: len(trail)] == trail)

    def _around(self, place: int, bounds: Span, belongs: Callable[[int], bool]) -> Span:
        first, end = place, place + 1
        while first > bounds.first and belongs(first - 1):
            first -= 1
        while end < bounds.end and belongs(end):
            end += 1
        return Span(first, end)

    def _fitting(self, whole: Span, place: int) -> Span:
        """As much around a chunk as there is room for: what follows before what precedes it; the
        rest of a list or table that was cut comes along in any case."""
        if self._size(whole) <= SECTION_TOKENS:
            return whole
        span = Span(place, place + 1)
        wider: Span | None = span
        while wider:
            span = wider
            wider = next(
                (each for each in wider_spans(span, whole) if self._fits(each, span)), None
            )
        return span

    def _fits(self, wider: Span, span: Span) -> bool:
        left = span.end - 1 if wider.end > span.end else wider.first
        is_cut = continues(self.chunks[left].text, self.chunks[left + 1].text)
        return self._size(wider) <= (LIST_TOKENS if is_cut else SECTION_TOKENS)

    def _size(self, span: Span) -> int:
        return sum(self._tokens[span.first : span.end])

    def pieces(self, section: Section) -> Iterator[tuple[str, str]]:
        """The texts of a section's chunks, each after what joins it to the one before: headings
        below the section's own stand between them."""
        above, before = section.trail, ""
        for place in range(*section.span):
            text = self.chunks[place].text
            if heads := self._headings_before(place, above, is_first=not before):
                yield ("\n\n" if before else "") + "".join(f"{head}\n\n" for head in heads), text
            else:
                yield followed(before, text) if before else ("", text)
            above, before = self.trails[place], text

    def _headings_before(self, place: int, above: Trail, *, is_first: bool) -> list[str]:
        """The headings that are new with a chunk, but for those that stand in its own text."""
        trail, same = self.trails[place], len(shared(self.trails[place], above))
        if (
            not is_first
            and trail == above
            and self.chunks[place].page_url != (self.chunks[place - 1].page_url)
        ):
            same -= 1  # another section of the same name
        own = headings_in(self.chunks[place].text)
        return [
            f"{'#' * min(depth + 1, 6)} {trail[depth]}"
            for depth in range(same, len(trail))
            if trail[depth] not in own
        ]

    def words_in(self, span: Span) -> int:
        return sum(len(self.chunks[place].text.split()) for place in range(*span))

    def heading_at(self, place: int) -> str:
        """What the section of a chunk is called; empty beyond the page."""
        return self.trails[place][-1] if 0 <= place < len(self.chunks) else ""


def wider_spans(span: Span, whole: Span) -> Iterator[Span]:
    if span.end < whole.end:
        yield Span(span.first, span.end + 1)
    if span.first > whole.first:
        yield Span(span.first - 1, span.end)


def opens_section_above(chunk: SearchResult, trail: Trail) -> bool:
    """Whether a chunk begins above its own heading: with a few words that open a section goes the
    first section below them, and the larger part names both."""
    return trail[-1] in headings_in(chunk.text)


def headings_in(text: str) -> frozenset[str]:
    if "#" not in text:
        return frozenset()
    return frozenset(line.lstrip("#").strip() for line in text.split("\n") if line.startswith("#"))


def shared(one: Trail, other: Trail) -> Trail:
    """The headings that two sections have in common."""
    pairs = zip(one, other, strict=False)
    return tuple(mine for mine, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def followed(before: str, text: str) -> tuple[str, str]:
    """What stands between two chunks of one section, and the second one without the table's head
    that it repeats."""
    if rows := rows_going_on(before, text):
        return "\n", rows
    last, first = before.rsplit("\n", 1)[-1], text.split("\n", 1)[0]
    return ("\n" if ITEM.match(first) and ITEM.match(last) else "\n\n"), text


def rows_going_on(before: str, text: str) -> str:
    """The rows of a table that goes on, without its head; empty where it is another one."""
    head, rule, *rows = [*text.split("\n"), "", ""]
    is_same = TABLE_RULE.fullmatch(rule) and f"{head}\n{rule}\n" in before
    goes_on = is_same and TABLE_ROW.match(before.rsplit("\n", 1)[-1])
    return "\n".join(rows).rstrip("\n") if goes_on else ""


def continues(before: str, text: str) -> bool:
    """Whether a list or a table was cut between two chunks."""
    last, first = before.rsplit("\n\n", 1)[-1], text.split("\n", 1)[0]
    if ITEM.match(first):
        return ITEM.match(last) is not None
    return bool(rows_going_on(before, text))


def count_on(one: str, other: str) -> bool:
    first, second = NUMBER.match(one), NUMBER.match(other)
    if first is None or second is None:
        return False
    alike = one[: first.start(1)] == other[: second.start(1)]
    return alike and int(second[1]) == int(first[1]) + 1


def tokens_of(chunk: SearchResult) -> int:
    counted = int(chunk.metadata.get("token_count") or TOKENS_PER_WORD * len(chunk.text.split()))
    return max(counted, len(chunk.text.encode()) // BYTES_PER_TOKEN)
