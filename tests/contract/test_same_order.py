"""Whichever index a team chooses, its readers are given the same passages in the same order."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_core.books.book import BookIds
from rag_core.ports import VectorStore
from rag_core.providers.edge.store import open_edge_store
from rag_core.retrieval.query import SearchQuery
from rag_core.retrieval.retriever import Retriever
from tests.fakes.embedder import WordEmbedder
from tests.peers.qdrant_collection import server_store
from tests.shelf_builders import file_chunks, long_text

EMBEDDER = WordEmbedder()
SUBJECTS = ("oven", "gripper", "battery", "tray", "wheel")


async def fill(store: VectorStore) -> None:
    """Pages of one to five passages, each about other things."""
    for page, subject in enumerate(SUBJECTS):
        others = SUBJECTS[: page + 1]
        texts = [long_text(f"{subject} {other}", words=60 + 10 * page) for other in others]
        await store.add(file_chunks(texts, file=f"{subject}.md"))
        await store.show_version(book_id="course", source_file=f"{subject}.md", version=1)


async def order(
    store: VectorStore, text: str, earlier: tuple[str, ...]
) -> list[tuple[str, float, float]]:
    retriever = Retriever(embedder=EMBEDDER, store=store)
    query = SearchQuery(text=text, book_ids=BookIds(["course"]), audience=None, limit=15)
    found = (await retriever.search(query, earlier=earlier)).results
    return [(each.chunk_id, each.rank_score, each.similarity_score) for each in found]


async def test_both_indexes_give_the_same_order(tmp_path: Path, qdrant_url: str) -> None:
    edge = open_edge_store(tmp_path / "index", dimension=EMBEDDER.dimension, model=EMBEDDER.model)
    async with edge as embedded, server_store(qdrant_url) as server:
        await fill(embedded)
        await fill(server)
        for text, earlier in (
            ("how is the oven described?", ()),
            ("the battery of the wheel", ()),
            ("and how is it described?", ("the tray", "the gripper and the oven")),
        ):
            here, there = await order(embedded, text, earlier), await order(server, text, earlier)
            assert len(here) == 15
            assert [chunk for chunk, *_ in here] == [chunk for chunk, *_ in there]
            for one, other in zip(here, there, strict=True):
                assert one[1:] == pytest.approx(other[1:], abs=1e-4)
