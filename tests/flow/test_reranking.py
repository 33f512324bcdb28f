"""Search with a rerank model: its order, its absence, and its failures."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from rag_core.books.book import BookIds
from rag_core.ports import Reranker
from rag_core.providers.cohere_reranker import open_cohere_reranker
from rag_core.providers.edge.store import EdgeStore, open_edge_store
from rag_core.providers.retries import Retries
from rag_core.retrieval.query import SearchQuery
from rag_core.retrieval.results import SearchResult
from rag_core.retrieval.retriever import Retriever
from tests.fakes.embedder import WordEmbedder
from tests.peers.cohere import KEY, CoherePeer, cohere_peer
from tests.peers.faults import Fault, Reset, Slow, Status
from tests.shelf_builders import file_chunks, long_text

COURSE = BookIds(["course"])
ONCE = Retries(attempts=1, patience=0.5)
SUBJECTS = ("oven", "tray", "gear", "wheel")


class Backwards:
    """Finds that the last is the best, by a little."""

    def __init__(self) -> None:
        self.read: list[str] = []

    async def rerank(
        self, query: str, texts: Sequence[str], *, top: int
    ) -> Sequence[tuple[int, float]]:
        self.read = list(texts)
        return [(place, 0.9 - 0.02 * n) for n, place in enumerate(reversed(range(top)))]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[EdgeStore]:
    model = WordEmbedder()
    async with open_edge_store(
        tmp_path / "index", dimension=model.dimension, model=model.model
    ) as opened:
        for subject in SUBJECTS:
            texts = [long_text(f"{subject} {n}") for n in range(3)]
            await opened.add(file_chunks(texts, file=f"{subject}.md"))
            await opened.show_version(book_id="course", source_file=f"{subject}.md", version=1)
        yield opened


async def found(
    store: EdgeStore, reranker: Reranker | None, *, limit: int = 12
) -> Sequence[SearchResult]:
    retriever = Retriever(embedder=WordEmbedder(), store=store, reranker=reranker)
    query = SearchQuery(text="the oven is described", book_ids=COURSE, audience=None, limit=limit)
    return (await retriever.search(query)).results


@contextlib.asynccontextmanager
async def cohere(*faults: Fault) -> AsyncIterator[tuple[Reranker, CoherePeer]]:
    async with (
        cohere_peer(*faults) as peer,
        open_cohere_reranker(
            api_key=KEY, base_url=peer.url, model="rerank-v3.5", retries=ONCE
        ) as reranker,
    ):
        yield reranker, peer


async def test_the_model_decides_the_order_and_gives_its_scores(store: EdgeStore) -> None:
    fused = await found(store, None)
    model = Backwards()
    turned = await found(store, model)
    assert turned[0].chunk_id not in {result.chunk_id for result in fused[:3]}
    assert [result.rank for result in turned] == list(range(1, 13))
    assert turned[0].rank_score == 0.9
    assert {r.chunk_id: r.similarity_score for r in turned} == {
        r.chunk_id: r.similarity_score for r in fused
    }
    assert all(text.count("›") for text in model.read)


async def test_pages_still_take_turns(store: EdgeStore) -> None:
    first = await found(store, Backwards(), limit=8)
    pages = [result.source_file for result in first]
    assert all(pages.count(page) == 2 for page in pages)


async def test_cohere_orders_by_what_it_reads(store: EdgeStore) -> None:
    async with cohere() as (reranker, peer):
        best = (await found(store, reranker, limit=2))[0]
    assert best.source_file == "oven.md"
    (asked,) = peer.reranked
    assert asked["query"] == "the oven is described"
    assert len(asked["documents"]) == 12


@pytest.mark.parametrize("fault", [Status(500), Status(401), Reset(), Slow(30)])
async def test_without_the_model_the_order_is_the_usual_one(store: EdgeStore, fault: Fault) -> None:
    fused = await found(store, None, limit=5)
    async with cohere(fault) as (reranker, _):
        kept = await found(store, reranker, limit=5)
    assert [r.chunk_id for r in kept] == [r.chunk_id for r in fused]
    assert [r.rank_score for r in kept] == [r.rank_score for r in fused]


async def test_a_fault_of_our_own_is_not_hidden(store: EdgeStore) -> None:
    class Wrong:
        async def rerank(
            self, query: str, texts: Sequence[str], *, top: int
        ) -> Sequence[tuple[int, float]]:
            raise LookupError("a bug")

    with pytest.raises(LookupError):
        await found(store, Wrong())
