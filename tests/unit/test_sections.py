"""Evidence is a whole section: what comes along with the chunk that was found."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rag_core.books.book import BookIds
from rag_core.providers.edge.store import EdgeStore, open_edge_store
from rag_core.retrieval.query import EVERYTHING, Filters, SearchQuery
from rag_core.retrieval.results import SearchResult
from rag_core.retrieval.retriever import Retriever
from rag_core.retrieval.sections import Direction, SectionSearch
from tests.fakes.embedder import WordEmbedder
from tests.shelf_builders import page_chunks

COURSE = BookIds(["course"])
FILLER = "This sentence is about something else and only fills the page with words."

CLEAN = "Clean the oven every week with soda and warm water, also when nobody baked in it."


def filler(sentences: int) -> str:
    return " ".join([FILLER] * sentences)


@dataclass
class Shelf:
    """An index with a few pages, and searches in it."""

    store: EdgeStore
    pages: list[str] = field(default_factory=list)

    async def put(self, text: str, *, file: str = "page.md", **changes: Any) -> None:
        await self.store.add(page_chunks(text, file=file, **changes))
        book = changes.get("book", "course")
        await self.store.show_version(book_id=book, source_file=file, version=1)

    @property
    def chunks(self) -> Retriever:
        return Retriever(embedder=WordEmbedder(), store=self.store)

    @property
    def sections(self) -> SectionSearch:
        return SectionSearch(self.chunks)

    async def found(self, text: str, **changes: Any) -> Sequence[SearchResult]:
        fields = {"book_ids": COURSE, "audience": None, "limit": 3} | changes
        return (await self.sections.search(SearchQuery(text=text, **fields))).results

    async def best(self, text: str, **changes: Any) -> SearchResult:
        return (await self.found(text, **changes))[0]

    async def beside(self, result: SearchResult, direction: Direction) -> SearchResult | None:
        return await self.sections.beside(result, direction, books=COURSE, filters=EVERYTHING)


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Shelf]:
    model = WordEmbedder()
    async with open_edge_store(folder, dimension=model.dimension, model=model.model) as store:
        yield Shelf(store)


@pytest.fixture
async def shelf(tmp_path: Path) -> AsyncIterator[Shelf]:
    async with opened(tmp_path / "index") as found:
        yield found


async def test_a_section_comes_with_its_short_sub_sections(shelf: Shelf) -> None:
    await shelf.put(
        f"# Oven\n\n## Cleaning\n\n{CLEAN}\n\n"
        "### Door\n\nThe glass of the door takes vinegar, never soda at all.\n\n"
        f"## Baking\n\n{filler(40)}"
    )
    best = await shelf.best("clean the oven with soda")
    assert best.section_heading == "Cleaning"
    assert best.breadcrumb == "Oven › Cleaning"
    assert best.text == (
        f"{CLEAN}\n\n### Door\n\nThe glass of the door takes vinegar, never soda at all."
    )
    assert len(best.chunk_ids) == 2
    assert best.chunk_id == best.chunk_ids[0]
    assert (best.heading_before, best.heading_after) == ("", "Baking")
    assert (best.left_out_before, best.left_out_after) == (0, 0)


async def test_the_few_words_that_open_a_section_bring_all_of_it(shelf: Shelf) -> None:
    """They stand in one chunk with the first section below them, which names that chunk."""
    await shelf.put(
        "# Oven\n\n## Cleaning\n\nUse soda.\n\n### Door\n\nThe glass takes vinegar alone, every"
        f" second week.\n\n### Tray\n\nTrays go into the sink.\n\n## Baking\n\n{filler(40)}"
    )
    best = await shelf.best("the glass takes vinegar")
    assert best.section_heading == "Cleaning"
    assert best.text == (
        "Use soda.\n\n### Door\n\nThe glass takes vinegar alone, every second week.\n\n"
        "### Tray\n\nTrays go into the sink."
    )


async def test_a_line_that_leads_to_sub_sections_brings_what_it_leads_to(shelf: Shelf) -> None:
    long = f"Turn the key of the gas line. {filler(25)}"
    await shelf.put(
        "# Oven\n\n## Lighting\n\nTo light the old oven in the workshop kitchen, follow these"
        " pages in the order of their numbers and never skip one of them:\n\n"
        f"### Gas\n\n{long}\n\n### Spark\n\n{filler(30)}\n\n## Baking\n\n{filler(30)}"
    )
    best = await shelf.best("light the old oven in the workshop kitchen")
    assert best.section_heading == "Lighting"
    assert "### Gas\n\nTurn the key of the gas line." in best.text
    assert best.left_out_after > 0


async def test_a_tiny_section_comes_with_the_short_section_above(shelf: Shelf) -> None:
    """The remedy stands beside the error."""
    await shelf.put(
        "# Printer\n\n## Error E17\n\nThe display shows E17 and the printer stops at once.\n\n"
        "### Meaning\n\nThe paper tray is open or was not closed as it should.\n\n"
        "### Remedy\n\nPush the tray in until it clicks twice, then press the green key.\n\n"
        f"## Paper\n\n{filler(40)}"
    )
    best = await shelf.best("the paper tray is open")
    assert "Push the tray in" in best.text
    assert best.section_heading == "Error E17"
    assert best.page_url is not None
    assert best.page_url.endswith("#meaning"), "the link leads to what was found"


@pytest.mark.parametrize("words", ["Step {}: do", "{}. Do", "Schritt {}: mach"])
async def test_steps_under_headings_of_their_own_come_together(shelf: Shelf, words: str) -> None:
    steps = [
        f"### {words.format(n)} it {name}\n\nHere you {name} the frame. {filler(6)}"
        for n, name in enumerate(("unpack", "assemble", "polish"), start=1)
    ]
    await shelf.put(
        "# Bench\n\n## Assembly\n\n" + "\n\n".join(steps) + f"\n\n## Care\n\n{filler(60)}"
    )
    best = await shelf.best("assemble the frame")
    positions = [best.text.find(f"Here you {name}") for name in ("unpack", "assemble", "polish")]
    assert positions == sorted(positions)
    assert -1 not in positions
    assert best.section_heading == "Assembly"


async def test_numbered_chapters_that_are_long_stay_apart(shelf: Shelf) -> None:
    await shelf.put(
        f"# Guide\n\n## 1. Planting beans\n\nBeans like sun. {filler(25)}\n\n"
        f"## 2. Watering beans\n\nWater them at dawn. {filler(25)}"
    )
    best = await shelf.best("water beans at dawn")
    assert best.section_heading == "2. Watering beans"
    assert "Beans like sun" not in best.text


async def test_a_long_section_is_cut_around_the_chunk_that_was_found(shelf: Shelf) -> None:
    names = ("anvil", "bellows", "chisel", "drill", "engine", "file", "gouge", "hammer")
    parts = [f"Paragraph about the {name}. {filler(14)}" for name in names]
    await shelf.put("# Tools\n\n## All tools\n\n" + "\n\n".join(parts))
    best = await shelf.best("paragraph about the engine")
    assert "about the engine" in best.text
    assert best.left_out_before > 0
    assert best.left_out_after > 0
    assert best.left_out_before + best.left_out_after + len(best.text.split()) == sum(
        len(part.split()) for part in parts
    )
    assert best.heading_before == best.heading_after == "All tools"


async def test_a_list_that_was_cut_in_two_comes_whole(shelf: Shelf) -> None:
    items = [f"{n}. Tighten screw {n} of the frame. {filler(2)}" for n in range(1, 19)]
    await shelf.put("# Frame\n\n## Screws\n\nTighten them in this order:\n\n" + "\n".join(items))
    best = await shelf.best("tighten screw 2 of the frame")
    assert len(best.chunk_ids) > 1, "the list is longer than a chunk"
    lines = best.text.split("\n")
    assert [line for line in lines if line] == ["Tighten them in this order:", *items]
    assert "\n\n" not in best.text[best.text.index("1. ") :], "still one list"


async def test_a_table_that_was_cut_in_two_has_one_head(shelf: Shelf) -> None:
    rows = [f"| screw {n} | {n} Nm, {filler(2)} |" for n in range(1, 19)]
    table = "\n".join(["| what | torque |", "| --- | --- |", *rows])
    await shelf.put(f"# Frame\n\n## Torque\n\n{table}")
    best = await shelf.best("torque of screw 20")
    assert len(best.chunk_ids) > 1, "the table is longer than a chunk"
    assert best.text == table


async def test_two_found_chunks_of_one_section_are_one_result(shelf: Shelf) -> None:
    await shelf.put(
        f"# Lathe\n\n## Speed\n\nThe lathe turns at 900 rounds. {filler(12)}\n\n"
        f"Only a mentor sets the lathe to 1200 rounds. {filler(12)}"
    )
    await shelf.put(f"# Saw\n\n## Speed\n\nThe saw has one speed. {filler(6)}", file="saw.md")
    found = await shelf.found("rounds of the lathe", limit=2)
    assert [each.source_file for each in found] == ["page.md", "saw.md"]
    assert [each.rank for each in found] == [1, 2]
    ids = [chunk for each in found for chunk in each.chunk_ids]
    assert len(ids) == len(set(ids))


async def test_as_many_sections_are_found_as_were_asked_for(shelf: Shelf) -> None:
    for number in range(4):
        paragraphs = [f"Glue number {number} for part {n}. {filler(20)}" for n in range(5)]
        await shelf.put(
            f"# Glue {number}\n\n## Use\n\n" + "\n\n".join(paragraphs), file=f"glue-{number}.md"
        )
    found = await shelf.found("glue for a part", limit=4)
    assert len(found) == 4
    response = await shelf.sections.search(
        SearchQuery(text="glue for a part", book_ids=COURSE, audience=None, limit=4)
    )
    assert response.query.limit == 4


async def test_sections_of_the_same_name_are_not_mixed_up(shelf: Shelf) -> None:
    await shelf.put(
        f"# Tools\n\n## Saw\n\n{filler(30)}\n\n### Example\n\nSaw the oak plank. {filler(30)}\n\n"
        f"## File\n\n{filler(30)}\n\n### Example\n\nFile the brass plate. {filler(30)}"
    )
    best = await shelf.best("file the brass plate")
    assert best.breadcrumb == "Tools › File › Example"
    assert "oak plank" not in best.text


async def test_nothing_that_may_not_be_found_comes_along(shelf: Shelf) -> None:
    july = datetime(2026, 7, 1, tzinfo=UTC)
    page = "# Exam\n\n## Task\n\nBuild a robot arm.\n\n### Hint\n\nUse two motors for it."
    await shelf.put(page, book="staff")
    await shelf.put(page, file="later.md", released_at=july)
    june = Filters(released_at=datetime(2026, 6, 1, tzinfo=UTC))
    assert await shelf.found("build a robot arm", filters=june) == ()
    released = Filters(released_at=july)
    (found,) = await shelf.found("build a robot arm", filters=released)
    assert found.source_file == "later.md"
    for direction in Direction:
        assert await shelf.sections.beside(
            found, direction, books=BookIds(["staff"]), filters=EVERYTHING
        ) is None  # fmt: skip
        assert await shelf.sections.beside(found, direction, books=COURSE, filters=june) is None


async def test_one_reads_on_from_section_to_section_to_both_ends(shelf: Shelf) -> None:
    names = ["Anvil", "Bellows", "Chisel", "Drill"]
    sections = [f"## {name}\n\nHere is the {name.lower()}. {filler(25)}" for name in names]
    await shelf.put("# Tools\n\n" + "\n\n".join(sections))
    start = await shelf.best("here is the chisel")
    assert (start.heading_before, start.heading_after) == ("Bellows", "Drill")
    after = await shelf.beside(start, Direction.AFTER)
    assert after is not None
    assert after.section_heading == "Drill"
    assert await shelf.beside(after, Direction.AFTER) is None
    back, seen = start, ["Chisel"]
    while before := await shelf.beside(back, Direction.BEFORE):
        assert before.section_heading == back.heading_before
        seen.append(before.section_heading)
        back = before
    assert seen == ["Chisel", "Bellows", "Anvil"]


async def test_one_reads_on_within_a_section_that_was_cut(shelf: Shelf) -> None:
    """Nothing is skipped, and nothing is read twice."""
    parts = [f"Paragraph {n} about the kiln. {filler(14)}" for n in range(12)]
    await shelf.put("# Kiln\n\n## All of it\n\n" + "\n\n".join(parts))
    start = await shelf.best("paragraph 5 about the kiln")
    texts, read = [start.text], start
    while following := await shelf.beside(read, Direction.AFTER):
        texts.append(following.text)
        read = following
    read = start
    while before := await shelf.beside(read, Direction.BEFORE):
        texts.insert(0, before.text)
        read = before
    assert "\n\n".join(texts) == "\n\n".join(parts)
    assert len(texts) > 2


async def test_what_reads_on_has_the_similarity_of_the_search(shelf: Shelf) -> None:
    await shelf.put(
        f"# Tools\n\n## Anvil\n\nThe anvil is heavy. {filler(25)}\n\n"
        f"## Bellows\n\nThe bellows blow. {filler(25)}"
    )
    start = await shelf.best("the anvil is heavy")
    search = shelf.sections
    after = await search.beside(
        start, Direction.AFTER, books=COURSE, filters=EVERYTHING, query="the bellows blow"
    )
    alone = await shelf.chunks.search(
        SearchQuery(text="the bellows blow", book_ids=COURSE, audience=None, limit=5)
    )
    (own,) = [each for each in alone.results if after and each.chunk_id == after.chunk_id]
    assert after is not None
    assert after.similarity_score == pytest.approx(own.similarity_score, abs=1e-3)


async def test_a_quote_is_traced_to_the_chunk_that_holds_it(shelf: Shelf) -> None:
    await shelf.put(
        f"# Oven\n\n## Cleaning\n\n{CLEAN}\n\n"
        "### Door\n\nThe glass of the door takes vinegar, never soda at all."
    )
    best = await shelf.best("clean the oven with soda")
    own = best.part_with("Clean the oven every week")
    other = best.part_with("The glass of the door  takes\nvinegar…")
    assert own.chunk_id == best.chunk_id
    assert other.chunk_id == best.chunk_ids[1]
    assert other.page_url is not None
    assert other.page_url.endswith("#door")
    assert best.part_with("words of nobody").chunk_id == best.chunk_id
