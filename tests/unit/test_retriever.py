"""What the retriever adds to the store: known modules, thresholds, pages in turn."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rag_core.books.book import BookIds
from rag_core.errors import InvalidQuestion
from rag_core.providers.edge.store import EdgeStore, open_edge_store
from rag_core.retrieval.candidates import Placed, pages_in_turn
from rag_core.retrieval.query import EVERYTHING, Filters, SearchQuery
from rag_core.retrieval.query_cache import QueryCache
from rag_core.retrieval.retriever import Retriever
from tests.builders import a_candidate
from tests.fakes.embedder import WordEmbedder
from tests.shelf_builders import file_chunks, long_text

COURSE = BookIds(["course"])


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[EdgeStore]:
    model = WordEmbedder()
    async with open_edge_store(
        tmp_path / "index", dimension=model.dimension, model=model.model
    ) as opened:
        for module, file in [("module-1", "a.md"), ("module-2", "b.md")]:
            texts = [long_text(f"gear {n} {file}") for n in range(4)]
            await opened.add(file_chunks(texts, file=file, module=module))
            await opened.show_version(book_id="course", source_file=file, version=1)
        yield opened


async def test_an_unknown_module_is_refused_with_the_known_ones(store: EdgeStore) -> None:
    retriever = Retriever(embedder=WordEmbedder(), store=store)
    query = SearchQuery(
        text="gear", book_ids=COURSE, audience=None, filters=Filters(module="modul-1")
    )
    with pytest.raises(InvalidQuestion, match="module-1, module-2") as refused:
        await retriever.search(query)
    assert refused.value.field == "module"
    assert refused.value.allowed == "module-1, module-2"
    known = SearchQuery(
        text="gear", book_ids=COURSE, audience=None, filters=Filters(module="module-2")
    )
    found = (await retriever.search(known)).results
    assert {result.module for result in found} == {"module-2"}


async def test_a_book_without_modules_says_so(store: EdgeStore) -> None:
    retriever = Retriever(embedder=WordEmbedder(), store=store)
    query = SearchQuery(
        text="gear", book_ids=BookIds(["x"]), audience=None, filters=Filters(module="m")
    )
    with pytest.raises(InvalidQuestion, match="no modules"):
        await retriever.search(query)


async def test_passages_below_the_threshold_are_left_out(store: EdgeStore) -> None:
    retriever = Retriever(embedder=WordEmbedder(), store=store)
    everything = await retriever.search(
        SearchQuery(text="gear 2", book_ids=COURSE, audience=None, limit=8)
    )
    scores = sorted(result.similarity_score for result in everything.results)
    bar = scores[len(scores) // 2]
    some = await retriever.search(
        SearchQuery(
            text="gear 2", book_ids=COURSE, audience=None, limit=8, similarity_threshold=bar
        )
    )
    assert 0 < some.total_found == len(some.results) < everything.total_found
    assert all(result.similarity_score >= bar for result in some.results)


async def test_a_page_has_two_places_before_others_have_had_theirs(store: EdgeStore) -> None:
    retriever = Retriever(embedder=WordEmbedder(), store=store)
    found = (
        await retriever.search(SearchQuery(text="a gear", book_ids=COURSE, audience=None, limit=4))
    ).results
    assert sorted(result.source_file for result in found) == ["a.md", "a.md", "b.md", "b.md"]
    assert [result.rank for result in found] == [1, 2, 3, 4]
    alone = SearchQuery(
        text="gear", book_ids=COURSE, audience=None, filters=Filters(module="module-1"), limit=4
    )
    assert len((await retriever.search(alone)).results) == 4


def turns(scores: dict[str, float]) -> list[str]:
    """The passages in their turn; the first letter names the page."""
    found = [Placed(a_candidate(name, source_file=name[0]), each) for name, each in scores.items()]
    ordered = pages_in_turn(found, lambda each: each.candidate.page, lambda each: each.score)
    return [each.candidate.text for each in ordered]


def test_pages_keep_their_order_within_and_among_each_other() -> None:
    alike = dict.fromkeys(["a0", "b0", "a1", "b1", "a2", "b2"], 0.5)
    assert turns(alike) == ["a0", "b0", "a1", "b1", "a2", "b2"]
    assert turns(dict.fromkeys(["a1", "a2", "a3", "b1"], 0.5)) == ["a1", "a2", "b1", "a3"]


def test_a_third_passage_waits_for_pages_nearly_as_good_and_for_no_others() -> None:
    assert turns({"a1": 0.9, "a2": 0.9, "a3": 0.8, "b1": 0.7}) == ["a1", "a2", "b1", "a3"]
    assert turns({"a1": 0.9, "a2": 0.9, "a3": 0.8, "b1": 0.4}) == ["a1", "a2", "a3", "b1"]
    many = {f"a{n}": 0.9 for n in range(9)} | {"b1": 0.3}
    assert turns(many).index("b1") == 5


async def test_a_lesson_is_read_whole_and_modules_are_listed(store: EdgeStore) -> None:
    retriever = Retriever(embedder=WordEmbedder(), store=store)
    found = (
        await retriever.search(SearchQuery(text="gear", book_ids=COURSE, audience=None))
    ).results[0]
    lesson = await retriever.lesson(found.parent_doc_id, books=COURSE, filters=EVERYTHING)
    assert [result.chunk_index for result in lesson] == [0, 1, 2, 3]
    assert await retriever.modules(books=COURSE, filters=EVERYTHING) == ["module-1", "module-2"]


async def test_a_look_up_says_how_many_passages_match_however_few_are_shown(
    store: EdgeStore,
) -> None:
    retriever = Retriever(embedder=WordEmbedder(), store=store)
    query = SearchQuery(text="gear", book_ids=COURSE, audience=None, limit=2)
    found = await retriever.look_up(query)
    assert (len(found.results), found.total_found) == (2, 8)
    assert found.results == (await retriever.search(query)).results
    narrow = replace(query, filters=Filters(module="module-1"))
    assert (await retriever.look_up(narrow)).total_found == 4


async def test_a_lesson_that_is_looked_up_comes_whole_and_in_order(store: EdgeStore) -> None:
    retriever = Retriever(embedder=WordEmbedder(), store=store)
    query = SearchQuery(text="gear 3", book_ids=COURSE, audience=None, limit=1)
    best = (await retriever.search(query)).results[0]
    of_lesson = replace(query, filters=Filters(parent_doc_id=best.parent_doc_id))
    lesson = await retriever.look_up(of_lesson)
    assert [result.chunk_index for result in lesson.results] == [0, 1, 2, 3]
    assert [result.rank for result in lesson.results] == [1, 2, 3, 4]
    assert lesson.total_found == 4
    scores = {result.chunk_id: result.similarity_score for result in lesson.results}
    assert abs(scores[best.chunk_id] - best.similarity_score) < 1e-3
    above = replace(of_lesson, similarity_threshold=max(scores.values()))
    assert [r.chunk_id for r in (await retriever.look_up(above)).results] == [
        chunk_id for chunk_id, score in scores.items() if score == max(scores.values())
    ]
    with pytest.raises(InvalidQuestion, match="module-1, module-2"):
        await retriever.look_up(
            replace(of_lesson, filters=replace(of_lesson.filters, module="nowhere"))
        )


async def test_a_refused_module_is_told_of_no_module_that_is_not_released(store: EdgeStore) -> None:
    june, july = (datetime(2026, month, 1, tzinfo=UTC) for month in (6, 7))
    chunks = file_chunks([long_text("secret")], file="z.md", module="exam", released_at=july)
    await store.add(chunks)
    await store.show_version(book_id="course", source_file="z.md", version=1)
    retriever = Retriever(embedder=WordEmbedder(), store=store)
    assert await retriever.modules(books=COURSE, filters=Filters(released_at=july)) == [
        "exam", "module-1", "module-2",
    ]  # fmt: skip
    for named in ("nowhere", "exam"):
        filters = Filters(module=named, released_at=june)
        with pytest.raises(InvalidQuestion, match=r"Known modules: module-1, module-2\."):
            await retriever.search(
                SearchQuery(text="secret", book_ids=COURSE, audience=None, filters=filters)
            )


async def test_a_question_asked_again_is_not_embedded_again() -> None:
    inner = WordEmbedder()
    cache = QueryCache(inner, size=2)
    for text in ("one", "two", "one", "three", "one", "two"):
        assert await cache.embed_query(text) == inner.vector(text)
    assert inner.queries == ["one", "two", "three", "two"]
