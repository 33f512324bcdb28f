"""Puts a question set's pages into an index of their own and measures what searches find."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean

from rag_core.books.book import BookIds
from rag_core.conversation.message import Role
from rag_core.evaluation.measures import ndcg, recall, reciprocal_rank
from rag_core.evaluation.question_set import QuestionSet, SetQuestion
from rag_core.ingestion.course import course_place
from rag_core.ingestion.cutting import Edition, Shelf, chunks_of, embedded_text
from rag_core.ingestion.documents import DocumentChunk, EmbeddedChunk
from rag_core.ingestion.loaders import LoadedDocument
from rag_core.ports import Embedder, VectorStore
from rag_core.retrieval.query import MAX_LIMIT, MIN_TEXT, SearchQuery
from rag_core.retrieval.retriever import Retriever

BOOK = "question-set"

Told = Callable[[int, int], None]
"""Hears how many of how many are done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalQuality:
    """The means over all questions that have relevant pages."""

    questions: int
    ndcg_at_10: float
    recall_at_5: float
    mrr_at_10: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A question with relevant pages, and the pages that a search found for it, best first."""

    question: SetQuestion
    pages: tuple[str, ...]

    @property
    def ndcg_at_10(self) -> float:
        return ndcg(self.pages, self.question.relevant_ids)

    @property
    def recall_at_5(self) -> float:
        return recall(self.pages, self.question.relevant_ids)

    @property
    def mrr_at_10(self) -> float:
        return reciprocal_rank(self.pages, self.question.relevant_ids)


async def fill_index(
    question_set: QuestionSet,
    *,
    store: VectorStore,
    embedder: Embedder,
    now: datetime,
    told: Told = lambda done, of: None,
) -> None:
    """Cut, embed and add the pages that the index does not show yet."""
    shown = await store.shown_versions(BOOK)
    missing = [page for page in question_set.pages if page.source_file not in shown]
    for number, page in enumerate(missing, start=1):
        await store.add(await embedded(cut_page(page, now), embedder, now))
        await store.show_version(book_id=BOOK, source_file=page.source_file, version=1)
        told(number, len(missing))


def cut_page(page: LoadedDocument, now: datetime) -> tuple[DocumentChunk, ...]:
    edition = Edition(version=1, created_at=now, updated_at=now, owns_lesson=False)
    place = course_place(page.source_file, page.fields)
    return chunks_of(page, place, shelf=Shelf(book_id=BOOK), edition=edition)


def index_key(question_set: QuestionSet, *, model: str, now: datetime) -> str:
    """Names the index of these pages: another text, another way to cut it or another model
    is another index, so that nothing old is ever measured."""
    digest = hashlib.sha256(model.encode())
    for page in question_set.pages:
        digest.update(f"\n{page.source_file}".encode())
        for chunk in cut_page(page, now):
            digest.update(f"\n{embedded_text(chunk)}".encode("utf-8", "replace"))
    return digest.hexdigest()[:24]


async def embedded(
    chunks: Sequence[DocumentChunk], embedder: Embedder, now: datetime
) -> list[EmbeddedChunk]:
    vectors = await embedder.embed_documents([embedded_text(chunk) for chunk in chunks])
    return [
        EmbeddedChunk(chunk=chunk, vector=vector, embedded_at=now, embedding_model=embedder.model)
        for chunk, vector in zip(chunks, vectors, strict=True)
    ]


async def rankings(
    question_set: QuestionSet,
    retriever: Retriever,
    *,
    with_history: bool = True,
    told: Told = lambda done, of: None,
) -> list[Ranked]:
    """Search for every question that has relevant pages; a page ranks by its best chunk."""
    asked = [question for question in question_set.questions if question.relevant_ids]
    found = []
    for number, question in enumerate(asked, start=1):
        pages = await ranked_pages(question, retriever, with_history)
        found.append(Ranked(question=question, pages=tuple(pages)))
        told(number, len(asked))
    return found


def retrieval_quality(ranked: Sequence[Ranked]) -> RetrievalQuality:
    if not ranked:
        return RetrievalQuality(questions=0, ndcg_at_10=0.0, recall_at_5=0.0, mrr_at_10=0.0)
    return RetrievalQuality(
        questions=len(ranked),
        ndcg_at_10=fmean(one.ndcg_at_10 for one in ranked),
        recall_at_5=fmean(one.recall_at_5 for one in ranked),
        mrr_at_10=fmean(one.mrr_at_10 for one in ranked),
    )


async def ranked_pages(
    question: SetQuestion, retriever: Retriever, with_history: bool
) -> list[str]:
    if len(question.question.strip()) < MIN_TEXT:
        return []
    query = SearchQuery(
        text=question.question, book_ids=BookIds([BOOK]), audience=None, limit=MAX_LIMIT // 2
    )
    earlier = [said.text for said in question.history if said.role is Role.USER]
    found = (await retriever.search(query, earlier=earlier if with_history else ())).results
    by_score = sorted(found, key=lambda result: -result.rank_score)
    # Equal texts are one result; each page that has the text is found by it.
    pages = (page for result in by_score for page in (result.source_file, *result.also_in))
    return list(dict.fromkeys(pages))
