"""footnote ask --explain: what was searched, found and used, and why the confidence is so high."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.table import Table

from bot.agents import judge_of
from bot.door import own_folder
from bot.providers import built_with, open_reader
from bot.settings import Settings
from rag_core.agent.checks.instructions import for_readers, hidden_orders
from rag_core.agent.confidence.profiles import CalibratedProfile, ConfidenceProfile
from rag_core.retrieval.results import SearchResult
from rag_core.retrieval.whereabouts import whereabouts
from rag_core.text.visible import visible

Document = dict[str, Any]


async def profile_in(settings: Settings) -> ConfidenceProfile:
    """The profile that the house judges by."""
    folder = own_folder(settings.data_dir)
    embedder = await built_with(settings, folder) or ""
    async with open_reader() as reader:
        return judge_of(settings, folder, embedder=embedder, reader=reader).profile


def explain(
    answer: Document,
    thread: Document,
    profile: ConfidenceProfile,
    console: Console,
    *,
    found: Sequence[Document] = (),
) -> None:
    """In the order in which it happened. `found` are the results of the same searches, with what
    was left out of the passages."""
    turn = last_turn(thread["messages"])
    passages = list(handed_over(turn))
    console.print("\nHow this came about")
    understood = str(thread["metadata"].get("standalone") or answer["query"])
    if understood != answer["query"]:
        console.print(f"Searched as: {understood}")
    searches = searches_of(thread)
    for search in searches:
        console.print(
            f"Searched for: {search['query']} ({search['results_count']} passages, mean"
            f" similarity {search['avg_similarity']:.2f})"
        )
    if not passages:
        console.print("So nothing was found." if searches else "Nothing was searched.")
        return
    console.print(found_table(passages, answer["citations"]))
    for removed in answer["removed"]:
        line = f"Left out or marked: {removed['text']} ({removed['reason']})"
        console.print(line, soft_wrap=True, markup=False)
    for line in left_out(passages, found):
        console.print(line, soft_wrap=True, markup=False)
    if estimate := thread["metadata"].get("estimate"):
        for line in reasons(answer, estimate, profile):
            console.print(line, markup=False)
    for line in measures(thread["metadata"].get("evidence") or {}):
        console.print(line)


def searches_of(thread: Document) -> Sequence[Document]:
    """The searches of the thread's last answer: those made after its question."""
    asked = [message for message in thread["messages"] if message["role"] == "user"]
    if not asked:
        return ()
    since = datetime.fromisoformat(asked[-1]["timestamp"])
    history = thread["retrieval_history"]
    return [each for each in history if datetime.fromisoformat(each["timestamp"]) >= since]


def measures(evidence: Document) -> Iterator[str]:
    """What was measured on the passages as they were found."""
    if not evidence.get("num_chunks"):
        return
    yield (
        f"  Similarity {evidence['min_similarity']:.2f} to {evidence['max_similarity']:.2f}, mean"
        f" {evidence['average_similarity']:.2f}; diversity of the passages"
        f" {evidence['chunk_diversity']:.2f} (0: all alike)."
    )
    if not evidence["has_relevant_results"]:
        yield "  None of them comes near the question."
    elif not evidence["has_sufficient_context"]:
        yield "  They do not suffice for an answer without a caution."


def last_turn(messages: Sequence[Document]) -> Sequence[Document]:
    """The last question with all that was looked up for it."""
    return messages[max(n for n, message in enumerate(messages) if message["role"] == "user") :]


def handed_over(turn: Sequence[Document]) -> Iterator[SearchResult]:
    """The passages as the model read them, each once."""
    known: set[int] = set()
    for message in turn:
        if message["role"] != "tool":
            continue
        for found in json.loads(message["content"]).get("results") or ():
            if found["rank"] not in known:
                known.add(found["rank"])
                yield passage(found)


def passage(found: Document) -> SearchResult:
    """As much of it as is shown."""
    return SearchResult(
        text=found["chunk_text"],
        chunk_id="",
        similarity_score=found["similarity_score"],
        rank=found["rank"],
        rank_score=0.0,
        book_id="",
        source_file=found["source_url"],
        content_hash="",
        parent_doc_id="",
        chunk_index=0,
        total_chunks=1,
        page_title=found["page_title"],
        section_heading=found["section_heading"],
    )


def found_table(passages: Sequence[SearchResult], citations: Sequence[Document]) -> Table:
    notes = {(note["page_title"], note["section_heading"]): note["number"] for note in citations}
    table = Table("passage", "similarity", "where", "footnote")
    for each in passages:
        where = whereabouts(each.page_title, each.section_heading)
        number = notes.get((each.page_title, each.section_heading))
        table.add_row(
            str(each.rank),
            f"{each.similarity_score:.2f}",
            where or each.source_file,
            f"[{number}]" if number else "",
        )
    return table


def left_out(passages: Sequence[SearchResult], found: Sequence[Document]) -> Iterator[str]:
    """What of each passage was kept from the model, because it reads like orders to it."""
    whole = {for_readers(visible(result["text"])): result for result in found}
    for each in passages:
        if (result := whole.get(each.text)) is None:
            continue
        labels = (result["page_title"], result["section_heading"], result["source_file"])
        for order in hidden_orders(result["text"], *labels):
            text = " ".join(order.split())
            yield f"Left out of passage {each.rank}, as instructions to an AI assistant: {text}"


def reasons(answer: Document, estimate: Document, profile: ConfidenceProfile) -> Iterator[str]:
    """`estimate`: what the thread remembers of how the confidence was estimated."""
    judged, level = estimate["confidence"], estimate["level"]
    yield f"Confidence {judged:.2f} ({level}) by the profile {profile.name}, from the passages:"
    if isinstance(profile, CalibratedProfile):
        features = estimate["features"].items()
        yield "  " + ", ".join(f"{name.replace('_', ' ')} {value:.2f}" for name, value in features)
        cuts = profile.estimate
        yield (
            f"  Refused below {cuts.low:g}, unsure below {cuts.medium:g}, sure from {cuts.high:g};"
            f" measured for {cuts.embedder} and the reader {cuts.reader}."
        )
    if answer["outcome"] == "no_results" and level != "insufficient":
        yield "Refused all the same: no sentence that was written is backed by these passages."
