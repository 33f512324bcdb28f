"""The footnotes of a checked answer: numbered as they appear, each marker with its own quote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rag_core.agent.answer import Citation, Mark
from rag_core.agent.checks.fragments import to_quoted
from rag_core.retrieval.results import SearchResult


class Footnotes:
    """Numbers passages in the order in which they are cited and remembers each marker's quote."""

    def __init__(self, results: Sequence[SearchResult]) -> None:
        self._results = {result.rank: result for result in results}
        self._numbers: dict[int, int] = {}
        self._marks: list[Mark] = []

    def add(self, rank: int, quotes: Mapping[int, str]) -> str:
        """The marker for a passage, with the words that back this sentence."""
        number = self._numbers.setdefault(rank, len(self._numbers) + 1)
        self._marks.append(Mark(number=number, quote=quotes.get(rank, "")))
        return f"[{number}]"

    @property
    def marks(self) -> tuple[Mark, ...]:
        return tuple(self._marks)

    @property
    def citations(self) -> tuple[Citation, ...]:
        return tuple(self._citation(rank, number) for rank, number in self._numbers.items())

    def _citation(self, rank: int, number: int) -> Citation:
        quote = next((m.quote for m in self._marks if m.number == number and m.quote), "")
        return citation_of(self._results[rank], number=number, quote=quote)


def citation_of(result: SearchResult, *, number: int, quote: str) -> Citation:
    """The footnote for words of a section: it leads to the paragraph that holds them."""
    part = result.part_with(quote)
    return Citation(
        number=number,
        page_title=result.page_title,
        section_heading=part.section_heading,
        chunk_id=part.chunk_id,
        content_hash=part.content_hash,
        quote=quote,
        module=result.module,
        page_url=to_quoted(part.page_url, quote),
    )
