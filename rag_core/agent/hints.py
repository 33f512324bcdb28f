"""Answers for assignments: where to look and what to ask oneself, never the solution."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rag_core.agent.answer import AgentResponse, Citation, Source
from rag_core.agent.language.blocks import BlockKind, blocks_of
from rag_core.agent.language.sentences import sentences_of, without_markers
from rag_core.agent.phrases import Phrases
from rag_core.agent.verification.check import CheckedText
from rag_core.agent.verification.markers import markers_in, normalised
from rag_core.desk.progress import Progress, QuestionState
from rag_core.retrieval.context import RetrievalContext
from rag_core.retrieval.results import SearchResult
from rag_core.text.visible import visible

MAX_PLACES = 2
MAX_GUIDING = 240
"""Characters of the guiding question; what is longer explains more than it asks."""
TELLING = re.compile(r"[`={};<>|\\]|\d+|\w+\(|(?<!\w)--?\w+|\w+(?:[._/]\w+)+")
"""Numbers, names of code, options and paths: in a question, what the asker has not said."""


class StagesOnly:
    """Progress without the text: what the model writes is not shown before it is a hint."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    async def stage(self, state: QuestionState, detail: str = "") -> None:
        await self._progress.stage(state, detail)

    async def text(self, delta: str, *, restart: bool = False) -> None: ...


def hinted(draft: str, context: RetrievalContext, *, asked: str, phrases: Phrases) -> CheckedText:
    """The sections to read and one guiding question; whatever else a draft holds stays unsaid."""
    places = places_to_read(draft, context)
    if not places or not draft.strip():
        return CheckedText(text="")
    lines = [f"- {place_name(place)} [{n}]" for n, place in enumerate(places, start=1)]
    guide = guiding_question(draft, asked) or phrases.guiding_question.format(
        section=heading_of(places[0])
    )
    return CheckedText(
        text="\n".join((phrases.look_here, "", *lines, "", guide)),
        citations=tuple(pointing(place, number=n) for n, place in enumerate(places, start=1)),
    )


def places_to_read(draft: str, context: RetrievalContext) -> Sequence[SearchResult]:
    """The sections that the draft rests on, else the best ones found; each once."""
    cited = [context[number] for number in markers_in(normalised(draft)) if number in context]
    sections: dict[tuple[str, str], SearchResult] = {}
    for result in cited or context.results:
        sections.setdefault((result.parent_doc_id, result.section_heading), result)
    return list(sections.values())[:MAX_PLACES]


def guiding_question(draft: str, asked: str) -> str:
    """The first question of a draft that tells nothing; empty: there is none."""
    return next((one for one in prose_sentences(draft) if asks_only(one, asked)), "")


def prose_sentences(draft: str) -> Iterator[str]:
    for block in blocks_of(draft):
        if block.kind is BlockKind.PARAGRAPH:
            line = " ".join(without_markers(normalised(block.text)).split())
            yield from (sentence.strip() for sentence in sentences_of(line))


def asks_only(sentence: str, asked: str) -> bool:
    if not sentence.endswith("?") or len(sentence) > MAX_GUIDING:
        return False
    return all(told in asked for told in TELLING.findall(sentence))


def pointing(place: SearchResult, *, number: int) -> Citation:
    """A footnote that leads to a section and quotes nothing but its name."""
    return Citation(
        number=number,
        page_title=place.page_title,
        section_heading=place.section_heading,
        chunk_id=place.chunk_id,
        content_hash=place.content_hash,
        quote=heading_of(place),
        module=place.module,
        page_url=place.page_url,
    )


def heading_of(place: SearchResult) -> str:
    return visible(place.section_heading or place.page_title or place.source_file)


def place_name(place: SearchResult) -> str:
    names = dict.fromkeys((visible(place.page_title), heading_of(place)))
    return " › ".join(name for name in names if name)


def without_passages(response: AgentResponse) -> AgentResponse:
    """The answer with the names of its sources in the place of their words."""
    return replace(response, sources=tuple(map(named_only, response.sources)))


def named_only(source: Source) -> Source:
    return replace(source, chunk_text=source.section or source.page_title or source.source_file)
