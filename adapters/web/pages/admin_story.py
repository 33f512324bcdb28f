"""An answer's story as HTML."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.web.pages.admin_frame import items, row, rows
from adapters.web.pages.markdown import parsed, rendered
from adapters.web.pages.templates import Html, fill, joined
from rag_core.agent.answer import AgentResponse, Source
from rag_core.conversation.state import RetrievalRecord
from rag_core.insight.story import Rating, Story, StoryLine
from rag_core.retrieval.whereabouts import whereabouts

OUTCOMES = {
    "completed": "answered",
    "low_confidence": "with caution",
    "no_results": "refused",
    "error": "failed",
}


def answers_html(lines: Sequence[StoryLine]) -> Html:
    made = [line_row(line) for line in lines]
    return fill("admin-answers", answers=rows(made, columns=6, otherwise="Nothing was asked yet."))


def line_row(line: StoryLine) -> Html:
    return row(
        f"{line.asked_at:%d %b %H:%M}",
        fill("admin-story-link", answer_id=str(line.answer_id), question=line.question),
        line.platform,
        OUTCOMES[line.outcome.value],
        f"{line.confidence:.2f}",
        f"{line.seconds:.1f}",
    )


def story_html(story: Story) -> Html:
    response = story.response
    return fill(
        "admin-story",
        origin=f"Asked on {story.platform}, {story.asked_at:%d %b %Y %H:%M:%S} UTC",
        prose=rendered(parsed(response.answer)),
        facts=facts_html(story),
        searches=searches_html(story.searches),
        evidence=evidence_html(response.sources),
        citations=citations_html(response),
        removed=removed_html(response),
        ratings=items([rating(each) for each in story.ratings] or ["Nobody has rated it."]),
    )


def searches_html(searches: Sequence[RetrievalRecord]) -> Html:
    made = [
        row(found.query, str(found.results_count), f"{found.avg_similarity:.2f}")
        for found in searches
    ]
    return rows(made, columns=3, otherwise="Nothing was looked up.")


def evidence_html(sources: Sequence[Source]) -> Html:
    made = [
        row(
            str(source.rank),
            f"{source.similarity_score:.2f}",
            whereabouts(source.page_title, source.section),
            source.chunk_text,
        )
        for source in sources
    ]
    return rows(made, columns=4, otherwise="No passage was used.")


def removed_html(response: AgentResponse) -> Html:
    made = [row(each.text, each.reason) for each in response.removed]
    return rows(made, columns=2, otherwise="Every sentence stands.")


def citations_html(response: AgentResponse) -> Html:
    """One row for each of the words that back a sentence, in the order of the footnotes."""
    made = [
        row(str(note.number), whereabouts(note.page_title, note.section_heading), quote)
        for note in response.citations
        for quote in response.quotes(note.number)
    ]
    return rows(made, columns=3, otherwise="The answer has no footnotes.")


def facts_html(story: Story) -> Html:
    response = story.response
    waited = (story.stored_at - story.asked_at).total_seconds()
    delivered = {None: "on its way", True: "yes", False: "no: the platform refused it"}
    told = {
        "Outcome": outcome_of(response),
        "Confidence": f"{response.confidence:.2f} ({response.confidence_level.value})",
        "From question to stored answer": f"{waited:.2f} s",
        "Searching": f"{response.retrieval_time_ms:.0f} ms",
        "Writing and checking": f"{response.generation_time_ms:.0f} ms",
        "Altogether": f"{response.total_time_ms:.0f} ms",
        "Model": response.model,
        "Checked by": response.checked_by or "nothing had to be checked",
        "Tokens": str(response.tokens_used),
        "Attempts": str(story.attempts),
        "Delivered": delivered[story.delivered],
    }
    return joined([fill("admin-fact", fact=fact, value=value) for fact, value in told.items()])


def outcome_of(response: AgentResponse) -> str:
    outcome = OUTCOMES[response.outcome.value]
    return f"{outcome} ({response.error_kind.value})" if response.error_kind else outcome


def rating(each: Rating) -> str:
    words = "Helpful" if each.helpful else "Not helpful"
    return f"{words}: {each.reason}" if each.reason else words
