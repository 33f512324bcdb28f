"""footnote ask --explain: what was searched, found and used, and why the confidence is so high."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from bot.agents import profile_of
from bot.door import own_folder
from bot.providers import built_with
from bot.settings import Settings
from rag_core.agent.checks.instructions import for_readers, hidden_orders
from rag_core.agent.confidence.calibration import evidence_for, names_nothing
from rag_core.agent.confidence.inquiry import Inquiry
from rag_core.agent.confidence.near_miss import Signs, read_for
from rag_core.agent.confidence.profiles import CalibratedProfile, ConfidenceProfile
from rag_core.retrieval.results import SearchResult
from rag_core.retrieval.whereabouts import whereabouts
from rag_core.text.visible import visible

Document = dict[str, Any]


async def profile_in(settings: Settings) -> ConfidenceProfile:
    """The profile that the house judges by."""
    folder = own_folder(settings.data_dir)
    embedder = await built_with(settings, folder) or ""
    return profile_of(settings, folder, embedder=embedder)


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
    before, turn = split(thread["messages"])
    passages = list(handed_over(turn))
    console.print("\nHow this came about")
    understood = str(thread["metadata"].get("standalone") or answer["query"])
    if understood != answer["query"]:
        console.print(f"Searched as: {understood}")
    searches = thread["retrieval_history"][-answer["retrieval_count"] :]
    for search in searches if answer["retrieval_count"] else ():
        console.print(
            f"Searched for: {search['query']} ({search['results_count']} passages, mean"
            f" similarity {search['avg_similarity']:.2f})"
        )
    if not passages:
        searched = bool(answer["retrieval_count"])
        console.print("So nothing was found." if searched else "Nothing was searched.")
        return
    console.print(found_table(passages, answer["citations"]))
    for line in left_out(passages, found):
        console.print(line, soft_wrap=True, markup=False)
    said = tuple(message["content"] for message in before if message["role"] != "tool")
    inquiry = Inquiry(text=answer["query"], understood=understood, said=said)
    for line in reasons(answer, inquiry, passages, profile):
        console.print(line)


def split(messages: Sequence[Document]) -> tuple[Sequence[Document], Sequence[Document]]:
    """What was said before, and the last turn with all that was looked up for it."""
    last = max(n for n, message in enumerate(messages) if message["role"] == "user")
    return messages[1:last], messages[last:]


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
    """As much of it as confidence is judged by."""
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


def reasons(
    answer: Document,
    inquiry: Inquiry,
    passages: Sequence[SearchResult],
    profile: ConfidenceProfile,
) -> Iterator[str]:
    level, judged = profile.judge(inquiry, passages)
    if answer["should_answer"]:  # the passages come back rounded, the answer's figure is whole
        judged = answer["confidence"]
    yield f"Confidence {judged:.2f} ({level}) by the profile {profile.name}, from the passages:"
    if isinstance(profile, CalibratedProfile):
        yield from signals(inquiry, passages)
        cuts = profile.calibration
        yield (
            f"  Refused below {cuts.low:g}, with a caution below {cuts.medium:g}, sure from"
            f" {cuts.high:g}; measured for {cuts.embedder}."
        )
    else:
        nearest = max(each.similarity_score for each in passages)
        yield f"  {len(passages)} passages; the nearest has similarity {nearest:.2f}."
    if answer["outcome"] == "no_results" and level != "insufficient":
        yield "Refused all the same: no sentence that was written is backed by these passages."


def signals(inquiry: Inquiry, passages: Sequence[SearchResult]) -> Iterator[str]:
    shown = evidence_for(inquiry, passages)
    yield (
        f"  The nearest has similarity {shown.similarity:.2f}; the best has {shown.wording:.0%} of"
        f" the question's wording and {shown.coverage:.0%} of its words."
    )
    if shown.has_code:
        yield "  The code that is asked about stands there, which counts for much."
    if names_nothing(inquiry.text, passages):
        yield "  The code that is asked about stands in none of them."
    nearest = sorted(passages, key=lambda each: -each.similarity_score)[:5]
    against = list(doubts(read_for(inquiry, nearest)))
    if against:
        yield f"  Against it: {'; '.join(against)}. That leaves {shown.leave:.0%} of the sureness."
    if shown.refuted:
        yield "  Hardly any question that has an answer shows this, so it is refused."


def doubts(signs: Signs) -> Iterator[str]:
    """The signs of a near miss, in words."""
    if signs.says_opposite:
        yield "they say the opposite of what is asked"
    if signs.form_missing:
        yield "nothing of the kind that is asked for stands there"
    if signs.little_said:
        yield "they share next to nothing with it but common words"
    if signs.other_kind:
        yield "they tell of another thing of the same name"
    if signs.names_missing:
        yield f"{signs.names_missing} of its names or numbers are missing near the best sentence"
    if signs.rarest_missing > 0.0:
        yield "its rarest words are missing near the best sentence"
    if signs.points_nowhere:
        yield "it points at something that nobody named"
