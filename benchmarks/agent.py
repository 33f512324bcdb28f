"""What an answer costs beside a bare loop over AsyncOpenAI: `python -m benchmarks.agent`.

Both ask the same server (first token after 200 ms, then 100 at 5 ms, one tool round) and get the
same five passages from memory; no two questions share one, so nothing is remembered from the one
before. Ours judges confidence, guards the partial text and checks every sentence; the bare loop
does none of that.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import count
from statistics import median
from time import perf_counter, process_time
from typing import Any
from uuid import uuid4

import openai

from benchmarks.model_server import model_server
from rag_core.agent.agent import Agent
from rag_core.agent.config import AgentConfig
from rag_core.agent.prompts import SYSTEM_PROMPT
from rag_core.agent.tool_contract import RETRIEVE
from rag_core.books.book import BookIds
from rag_core.conversation.question import Question
from rag_core.desk.progress import QuestionState
from rag_core.evaluation.threads import thread_before
from rag_core.providers.chat.dialect import as_function
from rag_core.providers.chat.endpoint import Endpoint
from rag_core.providers.chat.openai_chat import open_openai_chat
from rag_core.retrieval.query import Filters, SearchQuery
from rag_core.retrieval.results import SearchResponse, SearchResult
from rag_core.retrieval.sections import Direction

PASSAGES = 5
WORDS = """
member guest workspace upload folder invoice release branch pipeline review backup export import
report calendar reminder channel thread search index passage footnote answer limit setting
password device session window editor server client request response update
""".split()  # noqa: SIM905 - a list of words is easier to read as text


@dataclass(frozen=True)
class Timing:
    """One question: all of it, and until its first text was there."""

    total: float
    first: float


class Shelf:
    """Five passages a question, each question its own."""

    def __init__(self) -> None:
        self._chance = random.Random(1)
        self._numbers = count()

    async def search(self, query: SearchQuery, *, earlier: Sequence[str] = ()) -> SearchResponse:
        results = self.passages()
        return SearchResponse(query=query, results=results, total_found=len(results))

    async def beside(
        self,
        result: SearchResult,
        direction: Direction,
        *,
        books: BookIds,
        filters: Filters,
        query: str = "",
    ) -> SearchResult | None:
        return None

    def passages(self) -> tuple[SearchResult, ...]:
        return tuple(self._passage(rank) for rank in range(1, PASSAGES + 1))

    def _passage(self, rank: int) -> SearchResult:
        name = next(self._numbers)
        sentences = [
            f"The {' '.join(self._chance.choices(WORDS, k=12))} takes {name + n} minutes."
            for n in range(16)
        ]
        return SearchResult(
            text=" ".join(sentences), chunk_id=str(name), similarity_score=0.8, rank=rank,
            rank_score=1.0, book_id="book", source_file="f.md", content_hash=str(name),
            parent_doc_id="p", chunk_index=0, total_chunks=1, page_title="Limits",
        )  # fmt: skip


class FirstText:
    """Notes when the first text came."""

    def __init__(self) -> None:
        self.at = 0.0

    async def stage(self, state: QuestionState, detail: str = "") -> None:
        """Not timed."""

    async def text(self, delta: str, *, restart: bool = False) -> None:
        self.at = self.at or perf_counter()


async def ours(agent: Agent, question: str) -> Timing:
    progress, began = FirstText(), perf_counter()
    answered = await agent.answer(
        Question(message=question),
        state=thread_before(None),
        books=BookIds(["book"]),
        audience=None,
        progress=progress,
    )
    if not answered.response.citations:
        raise AssertionError(f"no answer: {answered.response.answer}")
    return Timing(perf_counter() - began, progress.at - began)


async def bare(client: openai.AsyncOpenAI, shelf: Shelf, question: str) -> Timing:
    """A tool loop as a tutorial writes it."""
    began, first = perf_counter(), 0.0
    messages: list[Any] = [
        {"role": "system", "content": SYSTEM_PROMPT},
        {"role": "user", "content": question},
    ]
    while True:
        calls: dict[int, dict[str, Any]] = {}
        stream = await client.chat.completions.create(
            model="m", messages=messages, tools=[as_function(RETRIEVE)], stream=True
        )  # type: ignore[call-overload]
        async for chunk in stream:
            for choice in chunk.choices:
                if choice.delta.content:
                    first = first or perf_counter()
                for call in choice.delta.tool_calls or ():
                    part = calls.setdefault(call.index, {"id": call.id, "arguments": ""})
                    part["arguments"] += call.function.arguments or ""
        if not calls:
            return Timing(perf_counter() - began, first - began)
        messages += searched(calls, shelf)


def searched(calls: dict[int, dict[str, Any]], shelf: Shelf) -> list[dict[str, Any]]:
    made = [
        {
            "id": call["id"],
            "type": "function",
            "function": {"name": RETRIEVE.name, "arguments": call["arguments"]},
        }
        for call in calls.values()
    ]
    results = [
        {"chunk_text": result.text, "page_title": result.page_title, "rank": result.rank}
        for result in shelf.passages()
    ]
    found = json.dumps({"results": results})
    return [
        {"role": "assistant", "content": None, "tool_calls": made},
        *({"role": "tool", "tool_call_id": call["id"], "content": found} for call in made),
    ]


async def at_once(
    ask: Callable[[str], Awaitable[Timing]], questions: int, workers: int
) -> tuple[list[Timing], float]:
    """All timings, and the CPU seconds that one question took."""
    numbers = iter(range(questions))
    timings: list[Timing] = []

    async def work() -> None:
        for _ in numbers:
            asked = f"How many minutes does the {uuid4().hex[:6]} upload folder release take?"
            timings.append(await ask(asked))

    began = process_time()
    await asyncio.gather(*(work() for _ in range(workers)))
    return timings, (process_time() - began) / questions


async def measure(url: str, rounds: int, questions: int, workers: int) -> None:
    shelf = Shelf()

    async with (
        openai.AsyncOpenAI(api_key="none", base_url=url, max_retries=0) as client,
        open_openai_chat(Endpoint(model="m", base_url=url)) as model,
    ):
        agent = Agent(model=model, retriever=shelf, config=AgentConfig(rewrites=True))
        ways: dict[str, Callable[[str], Awaitable[Timing]]] = {
            "bare AsyncOpenAI": lambda question: bare(client, shelf, question),
            "Footnote": lambda question: ours(agent, question),
        }
        for ask in ways.values():
            await at_once(ask, 4, 4)
        for label, count_, together in (
            ("one by one", 8, 1),
            (f"{workers} at once", questions, workers),
        ):
            seen: dict[str, list[tuple[list[Timing], float]]] = {name: [] for name in ways}
            for _ in range(rounds):
                for name, ask in ways.items():
                    seen[name].append(await at_once(ask, count_, together))
            print(f"\n{label}, {rounds} rounds in turn of {count_} questions, medians")
            for name, runs in seen.items():
                timings = [timing for run, _ in runs for timing in run]
                print(
                    f"  {name:<18} all {median(t.total for t in timings) * 1e3:7.1f} ms"
                    f"   first text {median(t.first for t in timings) * 1e3:7.1f} ms"
                    f"   CPU {median(cpu for _, cpu in runs) * 1e3:5.2f} ms a question"
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--questions", type=int, default=192)
    parser.add_argument("--workers", type=int, default=96)
    asked = parser.parse_args()
    with model_server() as url:
        asyncio.run(measure(url, asked.rounds, asked.questions, asked.workers))


if __name__ == "__main__":
    main()
