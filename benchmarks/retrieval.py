"""How fast passages are found, beside the bare engine in one run: `python -m benchmarks.retrieval`.

Questions come with their vectors: the time of the embedding model is not in it. The bare engine
holds the same points, is asked by one thread, and gives back the text of what it found.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from time import perf_counter

import qdrant_edge as edge

from benchmarks.filling import DIMENSION, MODEL, Filling, Vectors, bare_shard, meanings_of
from benchmarks.pages import sentences
from benchmarks.stalls import stalls
from benchmarks.turns import Call
from bot.interpreter import settled_in, short_turns
from rag_core.books.book import BookIds
from rag_core.ports import EmbeddedQuery, Vector
from rag_core.providers.edge.building import GraphRules
from rag_core.providers.edge.signals import BY_THE_VECTORS
from rag_core.providers.edge.store import EdgeStore, open_edge_store
from rag_core.providers.index.bm25 import words_model
from rag_core.providers.index.payload import point_number
from rag_core.providers.spare_memory import share_free_memory
from rag_core.retrieval.query import SearchQuery
from rag_core.retrieval.retriever import Retriever

BOOK = "measured"
BOOKS = BookIds([BOOK])
FOUND = 5
QUESTIONS = 600
WARM = 200
CONCURRENT = 64
QUICK = GraphRules(quiet_seconds=0.1)
NO_GRAPH = GraphRules(quiet_seconds=0.1, exact_up_to=10_000_000)
"""A book of 5,000 is gone through one by one in any case; a graph of all takes many minutes."""
EXACT = edge.SearchParams(exact=True)

Question = tuple[str, list[float]]


class KnownVectors:
    """An Embedder that has embedded the questions before."""

    model, dimension = MODEL, DIMENSION

    def __init__(self, questions: Sequence[Question]) -> None:
        self._vectors = dict(questions)

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        return [self._vectors[text] for text in texts]

    async def embed_query(self, text: str) -> Vector:
        return self._vectors[text]


@dataclass(frozen=True, slots=True)
class Bench:
    """An index, the bare engine with the same points, and questions to both."""

    store: EdgeStore
    bare: edge.EdgeShard
    questions: list[Question]

    def ways(self) -> dict[str, dict[str, Call]]:
        """What is measured, and each way of doing it."""
        retriever = Retriever(embedder=KnownVectors(self.questions), store=self.store)
        words = words_model()
        asked = {
            name: iter(self.questions * 2) for name in ("bare", "ours", "both", "plain", "all")
        }
        own = edge.Filter(must=[edge.FieldCondition("book_id", match=edge.MatchAny([BOOK]))])

        def by_meaning(vector: list[float]) -> edge.Query:
            return edge.Query.Nearest(vector, using="dense")

        async def bare_dense() -> None:
            _, vector = next(asked["bare"])
            self.bare.query(
                edge.QueryRequest(
                    limit=FOUND,
                    query=by_meaning(vector),
                    filter=own,
                    params=BY_THE_VECTORS,
                    with_payload=True,
                )
            )

        async def dense() -> None:
            _, vector = next(asked["ours"])
            query = EmbeddedQuery(text="", vector=vector)
            await self.store.search(query, books=BOOKS, limit=FOUND)

        async def bare_hybrid() -> None:
            text, vector = next(asked["plain"])
            said = edge.Query.Nearest(words.embed_query(text), using="words")
            fetched = [
                edge.Prefetch(limit=100, query=each, filter=own, params=BY_THE_VECTORS)
                for each in (by_meaning(vector), said)
            ]
            fusion = edge.Fusion.Rrf(k=60)
            self.bare.query(
                edge.QueryRequest(limit=FOUND, prefetches=fetched, query=fusion, with_payload=True)
            )

        async def hybrid() -> None:
            text, vector = next(asked["both"])
            query = EmbeddedQuery(text=text, vector=vector)
            await self.store.search(query, books=BOOKS, limit=FOUND)

        async def everything() -> None:
            text, _ = next(asked["all"])
            await retriever.search(
                SearchQuery(text=text, book_ids=BOOKS, audience=None, limit=FOUND)
            )

        return {
            "dense": {"bare": bare_dense, "ours": dense},
            "dense and BM25": {"bare": bare_hybrid, "ours": hybrid},
            "all signals": {"ours": everything},
        }


async def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--grown", type=int, default=500_000, help="chunks beside the one book")
    arguments.add_argument("--only-growth", action="store_true", help="that measurement alone")
    arguments.add_argument(
        "--without-graph", action="store_true", help="leave the growing index without a graph"
    )
    chosen = arguments.parse_args()
    share_free_memory()  # as the running program has it
    meanings = await meanings_of(sentences())
    with short_turns(), settled_in():  # as the running program has them
        if not chosen.only_growth:
            await sizes(meanings)
        await growth(meanings, chosen.grown, NO_GRAPH if chosen.without_graph else QUICK)


async def sizes(meanings: Vectors) -> None:
    """An index of ten thousand chunks, and one of fifty thousand."""
    print(f"{'':<40}{'p50':>8}{'p95':>8}  ms")
    for chunks, wanted in ((10_000, TEN), (50_000, FIFTY)):
        async with filled(meanings, chunks) as bench:
            for name, ways in bench.ways().items():
                await show(f"{name}, {chunks:,} chunks", ways, wanted.get(name, ""))
            print(f"recall@{FOUND} of exact: {await recall(bench):.3f} (wanted: 0.98)")
            if chunks == 50_000:
                await crowd(bench)


TEN = {"dense": "0.5, p95 1"}
FIFTY = {"dense": "1", "dense and BM25": "1.5", "all signals": "3"}


@asynccontextmanager
async def filled(meanings: Vectors, chunks: int) -> AsyncIterator[Bench]:
    """One after the other: what adding leaves of free memory would lie in small pieces between
    those of the other index, which no program that serves has beside its own."""
    with tempfile.TemporaryDirectory(prefix="footnote-benchmark-") as folder:
        path = Path(folder)
        began = perf_counter()
        bare = bare_shard(path / "bare")
        Filling(meanings).fill_bare(bare, book=BOOK, chunks=chunks)
        async with open_edge_store(
            path / "index", dimension=DIMENSION, model=MODEL, rules=QUICK
        ) as store:
            filling = Filling(meanings)
            await filling.fill(store, book=BOOK, chunks=chunks)
            await store.settled()
            print(f"{chunks:,} chunks, added twice in {perf_counter() - began:.0f} s")
            yield Bench(store, bare, [filling.question() for _ in range(QUESTIONS)])
        bare.close()


async def show(what: str, ways: Mapping[str, Call], wanted: str) -> None:
    for name, times in (await in_milliseconds(ways)).items():
        asked = f" (wanted: {wanted})" if wanted and name == "ours" else ""
        print(
            f"{what + ', ' + name:<34}{p50(times):>8.2f}{quantiles(times, n=20)[18]:>8.2f}{asked}"
        )


async def in_milliseconds(ways: Mapping[str, Call]) -> dict[str, list[float]]:
    """The ways take turns question by question; the first questions only warm them up."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(QUESTIONS):
        for name, call in ways.items():
            began = perf_counter()
            await call()
            if number >= WARM:
                times[name].append(1e3 * (perf_counter() - began))
    return times


def p50(times: Sequence[float]) -> float:
    return sorted(times)[len(times) // 2]


async def recall(bench: Bench) -> float:
    """How many of the exactly nearest are found."""
    shares = []
    for _, vector in bench.questions:
        request = edge.QueryRequest(
            limit=FOUND, query=edge.Query.Nearest(vector, using="dense"), params=EXACT
        )
        exact = {hit.id for hit in bench.bare.query(request)}
        query = EmbeddedQuery(text="", vector=vector)
        found = await bench.store.search(query, books=BOOKS, limit=FOUND)
        shares.append(len(exact & {point_number(result.chunk_id, 1) for result in found}) / FOUND)
    return sum(shares) / len(shares)


async def crowd(bench: Bench) -> None:
    """Many askers at once: how many are served, and how long the event loop stands still."""

    async def ask(share: Sequence[Question]) -> None:
        for _, vector in share:
            query = EmbeddedQuery(text="", vector=vector)
            await bench.store.search(query, books=BOOKS, limit=FOUND)

    asked = bench.questions * 10
    async with stalls() as late:
        began = perf_counter()
        await asyncio.gather(*(ask(asked[number::CONCURRENT]) for number in range(CONCURRENT)))
        rate = len(asked) / (perf_counter() - began)
    print(
        f"{CONCURRENT} at once, dense: {rate:,.0f}/s (wanted: 2,000),"
        f" longest stall of the event loop {1e3 * max(late):.0f} ms (wanted: at most 25)"
    )


async def growth(meanings: Vectors, grown: int, rules: GraphRules) -> None:
    """One book of 5,000 chunks, alone and among others."""
    alone, among = 0.0, 0.0
    with tempfile.TemporaryDirectory(prefix="footnote-benchmark-") as folder:
        async with open_edge_store(
            Path(folder), dimension=DIMENSION, model=MODEL, rules=rules
        ) as store:
            filling = Filling(meanings)
            await filling.fill(store, book=BOOK, chunks=5_000)
            await store.settled()
            alone = await one_book(store, filling)
            for number in range(grown // 5_000 - 1):
                await filling.fill(store, book=f"other-{number}", chunks=5_000)
            print(f"{grown:,} chunks, their graph {await building(store, rules)}")
            among = await one_book(store, filling)
    print(
        f"a book of 5,000 chunks, all signals, p50: alone {alone:.2f} ms, among {grown:,} chunks"
        f" {among:.2f} ms: {among / alone:.2f} times (wanted: at most 1.5)"
    )


async def building(store: EdgeStore, rules: GraphRules) -> str:
    """How long it takes, and how long the event loop stands still when it takes its place."""
    if rules is NO_GRAPH:
        return "not built"
    async with stalls() as late:
        began = perf_counter()
        await store.settled()
        took = perf_counter() - began
    longest = 1e3 * max(late)
    return f"built in {took:.0f} s, the event loop late by at most {longest:.0f} ms (wanted: 250)"


async def one_book(store: EdgeStore, filling: Filling) -> float:
    questions = [filling.question() for _ in range(QUESTIONS)]
    retriever = Retriever(embedder=KnownVectors(questions), store=store)
    asked = iter(questions)

    async def everything() -> None:
        text, _ = next(asked)
        await retriever.search(SearchQuery(text=text, book_ids=BOOKS, audience=None, limit=FOUND))

    return p50((await in_milliseconds({"ours": everything}))["ours"])


if __name__ == "__main__":
    asyncio.run(main())
