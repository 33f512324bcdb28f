"""What every vector store keeps to, the embedded one and any later one."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Hashable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from rag_core.books.book import BookIds
from rag_core.ports import EmbeddedQuery, EmbeddedText, VectorStore
from rag_core.providers.edge.store import open_edge_store
from rag_core.retrieval.candidates import Candidate, Placed
from rag_core.retrieval.likeness import Likeness
from rag_core.retrieval.query import Filters, Layer, Proficiency
from rag_core.retrieval.results import SearchResult
from rag_core.retrieval.scoring import THREAD_WEIGHT
from tests.fakes.embedder import WordEmbedder
from tests.peers.qdrant_collection import server_store
from tests.shelf_builders import file_chunks, long_text

EMBEDDER = WordEmbedder()
COURSE = BookIds(["course"])
TEXTS = [long_text("gripper"), long_text("oven"), long_text("battery")]


@pytest.fixture(params=["edge", "server"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[VectorStore]:
    opening: AbstractAsyncContextManager[VectorStore]
    if request.param == "server":
        url: str = request.getfixturevalue("qdrant_url")
        opening = server_store(url)
    else:
        opening = open_edge_store(
            tmp_path / "index", dimension=EMBEDDER.dimension, model=EMBEDDER.model
        )
    async with opening as opened:
        yield opened


async def put(store: VectorStore, texts: Sequence[str] = TEXTS, **place: Any) -> list[str]:
    """Add a version of a file and show it; the ids of its chunks."""
    chunks = file_chunks(texts, **place)
    await store.add(chunks)
    metadata = chunks[0].chunk.metadata
    await store.show_version(
        book_id=metadata.book_id, source_file=metadata.source_file, version=metadata.version
    )
    return [embedded.chunk.id for embedded in chunks]


async def find(
    store: VectorStore,
    text: str = "oven",
    *,
    books: BookIds = COURSE,
    limit: int = 10,
    **filters: Any,
) -> Sequence[SearchResult]:
    query = EmbeddedQuery(text=text, vector=EMBEDDER.vector(text), filters=Filters(**filters))
    return await store.search(query, books=books, limit=limit)


async def test_what_was_added_is_found_with_everything_that_is_known_of_it(
    store: VectorStore,
) -> None:
    ids = await put(store, module="module-1", chapter=2, lesson=3, hardware_tier=1)
    found = (await find(store, "The oven is described"))[0]
    assert (found.chunk_id, found.chunk_index, found.total_chunks) == (ids[1], 1, 3)
    assert (found.prev_chunk_id, found.next_chunk_id) == (ids[0], ids[2])
    assert (found.module, found.chapter, found.lesson, found.hardware_tier) == ("module-1", 2, 3, 1)
    assert found.text == TEXTS[1]
    assert found.section_heading == "Part 1"
    assert found.metadata["version"] == 1
    assert found.metadata["embedding_model"] == EMBEDDER.model
    assert "edition" not in found.metadata
    assert len(found.vector) == EMBEDDER.dimension


async def test_results_are_ordered_ranked_from_one_and_no_more_than_asked_for(
    store: VectorStore,
) -> None:
    await put(store)
    found = await find(store, limit=2)
    assert [result.rank for result in found] == [1, 2]
    assert found[0].rank_score >= found[1].rank_score
    assert "oven" in found[0].text


async def test_a_short_list_is_the_head_of_a_long_one(store: VectorStore) -> None:
    """What cannot come first is left out early, and nothing else is."""
    chance = random.Random(7)
    words = [f"word{number}" for number in range(40)]
    await put(store, [long_text(" ".join(chance.choices(words, k=6))) for _ in range(300)])
    for _ in range(20):
        earlier = " ".join(chance.choices(words, k=3))
        text = " ".join(chance.choices(words, k=3))
        query = EmbeddedQuery(
            text=text,
            vector=EMBEDDER.vector(text),
            thread=EmbeddedText(text=earlier, vector=EMBEDDER.vector(earlier)),
        )
        long = [told(each) for each in await store.search(query, books=COURSE, limit=100)]
        for limit in (1, 5, 40):
            short = [told(each) for each in await store.search(query, books=COURSE, limit=limit)]
            assert short == long[:limit]


def told(result: SearchResult) -> tuple[str, float, float]:
    return result.chunk_id, result.rank_score, result.similarity_score


async def test_similarity_is_the_cosine_of_the_vectors(store: VectorStore) -> None:
    await put(store)
    query = EMBEDDER.vector("oven")
    for result in await find(store, "oven"):
        cosine = sum(a * b for a, b in zip(query, result.vector, strict=True))
        assert result.similarity_score == pytest.approx(max(0.0, cosine), abs=1e-5)


async def test_a_word_that_only_one_passage_has_brings_it_up(store: VectorStore) -> None:
    chunks = [replace(each, vector=EMBEDDER.vector("same")) for each in file_chunks(TEXTS)]
    await store.add(chunks)
    await store.show_version(book_id="course", source_file="page.md", version=1)
    query = EmbeddedQuery(text="battery", vector=EMBEDDER.vector("same"))
    found = await store.search(query, books=COURSE, limit=3)
    assert "battery" in found[0].text
    assert found[0].rank_score > found[1].rank_score


async def test_a_question_without_a_single_word_still_has_its_meaning(store: VectorStore) -> None:
    await put(store)
    assert len(await find(store, "???")) == 3


async def test_the_same_text_twice_is_one_result(store: VectorStore) -> None:
    await put(store, [TEXTS[0], TEXTS[1]], file="a.md")
    await put(store, [TEXTS[1], TEXTS[2]], file="b.md")
    found = await find(store)
    assert len({result.content_hash for result in found}) == len(found) == 3


async def test_one_of_equal_texts_is_the_result_and_says_where_else_it_stands(
    store: VectorStore,
) -> None:
    await put(store, [TEXTS[0]], file="a.md")
    await put(store, [TEXTS[0]], file="b.md")
    (found,) = await find(store)
    assert {found.source_file, *found.also_in} == {"a.md", "b.md"}
    assert len(found.also_in) == 1


async def test_what_stands_behind_many_equal_texts_is_found_too(store: VectorStore) -> None:
    copies = file_chunks([long_text("oven")] * 130, file="copies.md")
    await store.add(copies)
    (other,) = file_chunks([long_text("the tray of an oven")], file="other.md")
    await store.add([replace(other, vector=EMBEDDER.vector("oven"))])
    await store.show_versions(book_id="course", versions={"copies.md": 1, "other.md": 1})
    assert {result.source_file for result in await find(store, limit=2)} == {
        "copies.md",
        "other.md",
    }


async def test_a_query_without_text_is_looked_for_by_its_vector(store: VectorStore) -> None:
    await put(store)
    query = EmbeddedQuery(text="", vector=EMBEDDER.vector(TEXTS[2]))
    best, *_ = await store.search(query, books=COURSE, limit=3)
    assert best.text == TEXTS[2]
    assert best.rank_score == pytest.approx(best.similarity_score, abs=1e-5)


@dataclass
class Backwards:
    """An order of its own; remembers what it was told."""

    candidates: Sequence[Candidate] = ()
    leaders: Sequence[Hashable] = ()
    likeness: Likeness = field(default_factory=dict)

    def judged(self, candidates: Sequence[Candidate]) -> Backwards:
        self.candidates = candidates
        self.leaders = [each.point for each in candidates[:2]]
        return self

    def placed(self, likeness: Likeness) -> list[Placed]:
        self.likeness = likeness
        return [Placed(each, 0.25) for each in reversed(self.candidates)]


async def test_an_order_sees_the_pool_and_decides_what_is_returned(store: VectorStore) -> None:
    await put(store)
    order = Backwards()
    query = EmbeddedQuery(text="oven", vector=EMBEDDER.vector("oven"))
    found = await store.search(query, books=COURSE, limit=1, pool=3, order=order.judged)
    seen = order.candidates
    assert seen[0].text == TEXTS[1]
    assert len(seen) == 3
    assert [(r.text, r.rank, r.rank_score) for r in found] == [(seen[-1].text, 1, 0.25)]
    assert len(found[0].vector) == EMBEDDER.dimension


async def test_likeness_is_the_mean_of_the_cosines_to_the_leaders(store: VectorStore) -> None:
    await put(store)
    order = Backwards()
    query = EmbeddedQuery(text="oven", vector=EMBEDDER.vector("oven"))
    found = await store.search(query, books=COURSE, limit=3, pool=3, order=order.judged)
    vector_of = {
        seen.point: result.vector
        for seen, result in zip(reversed(order.candidates), found, strict=True)
    }
    leaders = [vector_of[point] for point in order.leaders]
    for point, vector in vector_of.items():
        cosines = [sum(a * b for a, b in zip(vector, each, strict=True)) for each in leaders]
        assert order.likeness.get(point, 0.0) == pytest.approx(fmean(cosines), abs=1e-4)


async def test_versions_of_several_files_are_shown_at_once(store: VectorStore) -> None:
    await put(store, [long_text("old a")], file="a.md")
    await put(store, [long_text("old b")], file="b.md")
    for file in ("a.md", "c.md"):
        await store.add(file_chunks([long_text(f"new {file}")], file=file, version=2))
    await store.show_versions(book_id="course", versions={"a.md": 2, "b.md": None, "c.md": 2})
    assert await store.shown_versions("course") == {"a.md": 2, "c.md": 2}
    await store.show_versions(book_id="course", versions={"a.md": 2, "c.md": 2})
    await store.show_versions(book_id="course", versions={})
    assert await store.count(books=COURSE) == 2


@pytest.mark.parametrize(
    ("filters", "files"),
    [
        ({"module": "module-1"}, {"a", "b"}),
        ({"chapter_min": 2}, {"b", "c"}),
        ({"chapter_max": 2}, {"a", "b"}),
        ({"chapter_min": 2, "chapter_max": 2}, {"b"}),
        ({"lesson": 0}, {"a"}),
        ({"hardware_tier": 1}, {"a", "plain"}),
        ({"hardware_tier": 2}, {"a", "b", "plain"}),
        ({"hardware_tier": 4}, {"a", "b", "c", "plain"}),
        ({"proficiency_levels": (Proficiency.A2,)}, {"a"}),
        ({"proficiency_levels": (Proficiency.A2, Proficiency.B1)}, {"a", "b"}),
        ({"layer": Layer.L2}, {"b"}),
        ({"released_at": datetime(2026, 1, 1, tzinfo=UTC)}, {"a", "plain"}),
        ({"released_at": datetime(2026, 2, 1, tzinfo=UTC)}, {"a", "b", "plain"}),
        ({"released_at": datetime(2026, 3, 1, tzinfo=UTC)}, {"a", "b", "c", "plain"}),
        ({"module": "module-1", "hardware_tier": 1}, {"a"}),
        ({"module": "module-1", "lesson": 5}, set()),
        ({"module": "nowhere"}, set()),
        ({}, {"a", "b", "c", "plain"}),
    ],
)
async def test_filters_hold_and_what_says_nothing_passes_two_of_them_only(
    store: VectorStore, filters: dict[str, Any], files: set[str]
) -> None:
    await put(
        store, [long_text("alpha")], file="a", module="module-1", chapter=1, lesson=0,
        hardware_tier=1, proficiency_level="A2", layer="L1",
        released_at=datetime(2026, 1, 1, tzinfo=UTC),
    )  # fmt: skip
    await put(
        store, [long_text("bravo")], file="b", module="module-1", chapter=2, lesson=1,
        hardware_tier=2, proficiency_level="B1", layer="L2",
        released_at=datetime(2026, 2, 1, tzinfo=UTC),
    )  # fmt: skip
    await put(
        store, [long_text("charlie")], file="c", module="module-2", chapter=3, lesson=2,
        hardware_tier=4, proficiency_level="C2", layer="L4",
        released_at=datetime(2026, 2, 1, tzinfo=UTC) + timedelta(days=1),
    )  # fmt: skip
    await put(store, [long_text("plain")], file="plain")
    assert {result.source_file for result in await find(store, "described", **filters)} == files


async def test_a_lesson_is_shown_to_whom_a_search_would_show_it(store: VectorStore) -> None:
    out = datetime(2026, 1, 1, tzinfo=UTC)
    chunk, *_ = await put(store, file="a.md", module="m1", released_at=out)
    parent = (await store.chunks([chunk], books=COURSE))[chunk].parent_doc_id

    async def shown(**filters: Any) -> int:
        return len(await store.lesson(parent, books=COURSE, filters=Filters(**filters)))

    assert (
        await shown()
        == await shown(released_at=out)
        == await shown(modules=("m1", "m2"))
        == len(TEXTS)
    )
    assert await shown(released_at=out - timedelta(seconds=1)) == 0
    assert await shown(modules=("m2",)) == 0


async def test_matches_are_all_texts_that_pass_the_filters_and_reach_the_threshold(
    store: VectorStore,
) -> None:
    texts = [long_text(f"oven {n}") for n in range(7)]
    await put(store, texts, file="a.md", module="one")
    await put(store, texts[:2], file="b.md", module="one")
    await put(store, [long_text("train")], file="c.md", module="two")
    await store.add(file_chunks([long_text("unseen")], file="d.md"))
    vector = EMBEDDER.vector(texts[0])

    async def matches(threshold: float = 0.0, **filters: Any) -> int:
        return await store.matches(
            vector, books=COURSE, filters=Filters(**filters), threshold=threshold
        )

    assert await matches() == 8
    assert await matches(module="one") == 7
    assert await matches(module="nowhere") == 0
    found = await find(store, texts[0], limit=100)
    for bar in (0.0, *(result.similarity_score - 1e-4 for result in found)):
        expected = sum(result.similarity_score >= bar for result in found)
        assert await matches(threshold=max(bar, 0.0)) == expected
    other = BookIds(["other"])
    assert await store.matches(vector, books=other, filters=Filters(), threshold=0.5) == 0


async def test_one_lesson_is_found_by_its_parent(store: VectorStore) -> None:
    await put(store, file="a.md")
    ids = await put(store, [long_text(f"part {n}") for n in range(12)], file="b.md")
    parent = (await store.chunks(ids, books=COURSE))[ids[0]].parent_doc_id
    lesson = await store.lesson(parent, books=COURSE)
    assert [result.chunk_id for result in lesson] == ids
    assert [result.rank for result in lesson] == list(range(1, 13))
    found = await find(store, "part", parent_doc_id=parent)
    assert {result.source_file for result in found} == {"b.md"}
    assert await store.lesson(parent, books=BookIds(["other"])) == []
    assert await store.lesson("no such parent", books=COURSE) == []


async def test_several_lessons_are_read_at_once_each_in_order(store: VectorStore) -> None:
    out = datetime(2026, 1, 1, tzinfo=UTC)
    ids = {
        file: await put(store, [long_text(f"{file} {n}") for n in range(5)], file=file, **fields)
        for file, fields in {
            "a.md": {}, "b.md": {}, "later.md": {"released_at": out}, "z.md": {"book": "other"},
        }.items()
    }  # fmt: skip
    both = BookIds(["course", "other"])
    firsts = await store.chunks([each[0] for each in ids.values()], books=both)
    parents = [firsts[each[0]].parent_doc_id for each in ids.values()]
    found = await store.lessons(parents, books=COURSE)
    assert [result.chunk_id for result in found] == [*ids["a.md"], *ids["b.md"], *ids["later.md"]]
    early = Filters(released_at=out - timedelta(seconds=1))
    found = await store.lessons(parents, books=COURSE, filters=early)
    assert [result.chunk_id for result in found] == [*ids["a.md"], *ids["b.md"]]
    assert await store.lessons([], books=COURSE) == []
    assert await store.lessons(["no such parent"], books=both) == []


async def test_a_new_version_is_unseen_until_it_is_shown_and_then_alone(
    store: VectorStore,
) -> None:
    await put(store, [long_text("gripper"), long_text("oven")])
    new = file_chunks([long_text("oven"), long_text("tray"), long_text("timer")], version=2)
    await store.add(new[:1])
    await store.add(new[1:])
    assert versions(await find(store)) == {1}
    assert await store.count(books=COURSE) == 2
    await store.show_version(book_id="course", source_file="page.md", version=2)
    assert versions(await find(store)) == {2}
    assert await store.count(books=COURSE) == 3
    assert await store.shown_versions("course") == {"page.md": 2}


async def test_a_version_that_is_given_up_leaves_the_old_one_alone(store: VectorStore) -> None:
    await put(store)
    await store.add(file_chunks([long_text("kettle")], version=2))
    await store.show_version(book_id="course", source_file="page.md", version=1)
    assert versions(await find(store, "kettle")) == {1}
    await store.add(file_chunks([long_text("whisk")], version=2))
    await store.show_version(book_id="course", source_file="page.md", version=2)
    assert [result.text for result in await find(store)] == [long_text("whisk")]


async def test_a_file_can_be_taken_away_and_come_back(store: VectorStore) -> None:
    await put(store)
    await store.show_version(book_id="course", source_file="page.md", version=None)
    assert await store.count(books=COURSE) == 0
    assert await store.shown_versions("course") == {}
    await put(store)
    assert await store.count(books=COURSE) == 3


async def test_a_version_that_readers_see_is_never_added_to(store: VectorStore) -> None:
    await put(store)
    with pytest.raises(ValueError, match="readers see"):
        await store.add(file_chunks([long_text("late")], version=1))


async def test_a_text_is_found_by_its_hash_with_its_vector_in_the_own_books_only(
    store: VectorStore,
) -> None:
    (first, *_) = file_chunks(TEXTS)
    await put(store)
    await put(store, book="other")
    digest = first.chunk.metadata.content_hash
    (found,) = await store.texts({digest, "0" * 64}, books=COURSE, limit=10)
    assert (found.text, found.book_id) == (first.chunk.text, "course")
    assert list(found.vector) == pytest.approx(list(first.vector), abs=1e-6)
    both = BookIds(["course", "other"])
    assert len(await store.texts({digest}, books=both, limit=10)) == 2
    assert len(await store.texts({digest}, books=both, limit=1)) == 1
    assert not await store.texts((), books=COURSE, limit=10)
    await store.add(file_chunks([long_text("unseen")], file="unseen.md"))
    (unseen,) = file_chunks([long_text("unseen")])
    assert not await store.texts({unseen.chunk.metadata.content_hash}, books=COURSE, limit=10)


async def test_modules_are_those_of_the_books_asked_for(store: VectorStore) -> None:
    await put(store, file="b.md", module="module-2")
    await put(store, file="a.md", module="module-1")
    await put(store, file="plain.md")
    await put(store, file="x.md", book="other", module="module-9")
    assert await store.modules(books=COURSE) == ["module-1", "module-2"]
    assert await store.modules(books=BookIds(["nowhere"])) == []


async def test_modules_are_those_that_have_something_released(store: VectorStore) -> None:
    june, july = (datetime(2026, month, 1, tzinfo=UTC) for month in (6, 7))
    await put(store, file="a.md", module="out", released_at=june)
    await put(store, file="b.md", module="later", released_at=july)
    await put(store, file="c.md", module="always")
    await put(store, file="d.md", module="partly", released_at=july)
    await put(store, file="e.md", module="partly", released_at=june)

    async def known(released_at: datetime | None, *modules: str) -> Sequence[str]:
        filters = Filters(released_at=released_at, modules=modules)
        return await store.modules(books=COURSE, filters=filters)

    assert await known(june - timedelta(days=1)) == ["always"]
    assert await known(june) == ["always", "out", "partly"]
    assert await known(july - timedelta(minutes=1)) == ["always", "out", "partly"]
    assert await known(july) == ["always", "later", "out", "partly"]
    assert await known(None) == ["always", "later", "out", "partly"]
    assert await known(june, "later", "out") == ["out"]


async def test_modules_are_those_of_what_readers_see_now(store: VectorStore) -> None:
    async def put_in(module: str | None, version: int) -> None:
        await store.add(file_chunks([long_text("oven")], version=version, module=module))
        before = await store.modules(books=COURSE)
        await store.show_version(book_id="course", source_file="page.md", version=version)
        seen.append((before, await store.modules(books=COURSE)))

    seen: list[tuple[Sequence[str], Sequence[str]]] = []
    for version, module in enumerate(("module-1", "module-2", None), start=1):
        await put_in(module, version)
    assert seen == [([], ["module-1"]), (["module-1"], ["module-2"]), (["module-2"], [])]
    await put_in("module-3", 4)
    await store.drop_book("course")
    assert await store.modules(books=COURSE) == []


async def test_a_book_of_many_files_goes_whole_and_leaves_the_others(store: VectorStore) -> None:
    for book in ("course", "other"):
        for number in range(40):
            texts = [long_text(f"oven {number}")]
            await store.add(file_chunks(texts, book=book, file=f"{number}.md"))
        await store.show_versions(book_id=book, versions={f"{n}.md": 1 for n in range(40)})
    await store.drop_book("course")
    both = BookIds(["course", "other"])
    assert await store.shown_versions("course") == {}
    assert len(await store.shown_versions("other")) == 40
    assert await store.count(books=both) == 40
    assert {each.book_id for each in await find(store, "oven", books=both)} == {"other"}


async def test_a_removed_book_is_gone_and_its_neighbours_stay(store: VectorStore) -> None:
    await put(store)
    await put(store, book="other")
    await store.add(file_chunks(TEXTS, version=2))
    await store.drop_book("course")
    assert await find(store) == []
    assert await store.count(books=BookIds(["other"])) == 3
    await put(store)
    assert await store.count(books=COURSE) == 3


async def test_words_are_as_rare_as_in_the_own_books(store: VectorStore) -> None:
    await put(store)
    alone = [result.rank_score for result in await find(store, "the oven and the battery")]
    for number in range(20):
        await put(store, [long_text("oven")], book="other", file=f"{number}.md")
    beside = [result.rank_score for result in await find(store, "the oven and the battery")]
    assert beside == pytest.approx(alone)


async def test_a_thread_counts_half_and_similarity_is_to_the_question_alone(
    store: VectorStore,
) -> None:
    await put(store)

    async def scores(text: str, thread: str | None = None) -> dict[str, tuple[float, float]]:
        said = EmbeddedText(text=thread, vector=EMBEDDER.vector(thread)) if thread else None
        query = EmbeddedQuery(text=text, vector=EMBEDDER.vector(text), thread=said)
        found = await store.search(query, books=COURSE, limit=10)
        return {each.chunk_id: (each.rank_score, each.similarity_score) for each in found}

    question, thread = "how long is it heated?", "the oven: how long is it heated?"
    alone, joined = await scores(question), await scores(thread)
    together = await scores(question, thread)
    assert len(together) == 3
    for chunk, (rank_score, similarity) in together.items():
        expected = alone[chunk][0] + THREAD_WEIGHT * joined[chunk][0]
        assert rank_score == pytest.approx(expected, abs=1e-4)
        assert similarity == pytest.approx(alone[chunk][1], abs=1e-5)


@pytest.mark.parametrize("text", ["", "how long is the oven heated?"])
async def test_cosines_count_what_their_model_needs_and_similarity_stays_the_cosine(
    store: VectorStore, text: str
) -> None:
    await put(store)

    async def scores(weight: float) -> dict[str, tuple[float, float]]:
        vector = EMBEDDER.vector("how long is the oven heated?")
        query = EmbeddedQuery(text=text, vector=vector, cosine_weight=weight)
        found = await store.search(query, books=COURSE, limit=10)
        return {each.chunk_id: (each.rank_score, each.similarity_score) for each in found}

    once, twice = await scores(1.0), await scores(2.0)
    assert once.keys() == twice.keys()
    for chunk, (rank_score, similarity) in twice.items():
        assert similarity == pytest.approx(once[chunk][1], abs=1e-5)
        assert rank_score == pytest.approx(once[chunk][0] + max(similarity, 0.0), abs=1e-4)


async def test_what_only_the_thread_finds_is_found(store: VectorStore) -> None:
    """More passages than are looked at, all near the question; the one that is meant is not."""
    near, meant = "same", "zebra"
    chunks = file_chunks([long_text(f"plain {n}") for n in range(120)])
    await store.add([replace(each, vector=EMBEDDER.vector(near)) for each in chunks])
    await store.show_version(book_id="course", source_file="page.md", version=1)
    (zebra,) = file_chunks([long_text(meant)], file="zebra.md")
    await store.add([replace(zebra, vector=EMBEDDER.vector(meant))])
    await store.show_version(book_id="course", source_file="zebra.md", version=1)
    said = EmbeddedText(text=meant, vector=EMBEDDER.vector(meant))
    query = EmbeddedQuery(text="???", vector=EMBEDDER.vector(near), thread=said)
    found = await store.search(query, books=COURSE, limit=120)
    assert "zebra.md" in {each.source_file for each in found}


async def test_readers_of_a_file_that_changes_see_one_whole_version_at_any_time(
    store: VectorStore,
) -> None:
    """Each version has as many chunks as its number; a mixture or a gap would show."""
    sizes = {1: 4, 2: 7, 3: 2, 4: 9, 5: 3, 6: 8}
    await put(store, [long_text(f"gear {n}") for n in range(sizes[1])])
    changed = asyncio.Event()
    seen: set[tuple[int, int]] = set()

    async def read() -> None:
        while not changed.is_set():
            found = await find(store, "gear", limit=50)
            assert len(versions(found)) == 1
            seen.add((versions(found).pop(), len(found)))

    async def write() -> None:
        for version in range(2, 7):
            await put(
                store,
                [long_text(f"gear {n} of {version}") for n in range(sizes[version])],
                version=version,
            )
        changed.set()

    async with asyncio.TaskGroup() as tasks:
        for _ in range(4):
            tasks.create_task(read())
        tasks.create_task(write())
    assert seen <= set(sizes.items())
    assert len(seen) > 1


async def test_a_write_whose_caller_gives_up_is_still_done_whole(store: VectorStore) -> None:
    await put(store)
    await store.add(file_chunks([long_text("kettle")], version=2))
    showing = asyncio.create_task(
        store.show_version(book_id="course", source_file="page.md", version=2)
    )
    await asyncio.sleep(0)
    showing.cancel()
    await asyncio.gather(showing, return_exceptions=True)
    await store.show_version(book_id="elsewhere", source_file="none.md", version=None)
    assert await store.shown_versions("course") == {"page.md": 2}
    assert await store.count(books=COURSE) == 1


async def test_no_chunk_of_a_foreign_book_is_ever_found(store: VectorStore) -> None:
    """Random changes and searches over many books that share their words and their files."""
    rng = random.Random(7)
    books = [f"book-{number}" for number in range(8)]
    versions_of: dict[tuple[str, str], int] = {}
    for _ in range(120):
        book, file = rng.choice(books), f"{rng.randrange(3)}.md"
        action = rng.choice(["write", "write", "remove", "drop", "search", "search", "search"])
        if action == "write":
            versions_of[book, file] = versions_of.get((book, file), 0) + 1
            texts = [long_text(rng.choice(["oven", "gear", "tray"])) for _ in range(2)]
            await put(store, texts, book=book, file=file, version=versions_of[book, file])
        elif action == "remove":
            await store.show_version(book_id=book, source_file=file, version=None)
        elif action == "drop":
            await store.drop_book(book)
        allowed = BookIds(rng.sample(books, rng.randrange(1, 3)))
        everything = await find(store, rng.choice(["oven", "gear"]), books=allowed, limit=100)
        assert {result.book_id for result in everything} <= set(allowed)
        by_id = await store.chunks([r.chunk_id for r in everything], books=BookIds([book]))
        assert {result.book_id for result in by_id.values()} <= {book}
        for result in everything[:1]:
            foreign = BookIds(["nobody"])
            assert await store.lesson(result.parent_doc_id, books=foreign) == []


def versions(results: Sequence[SearchResult]) -> set[int]:
    return {result.metadata["version"] for result in results}
