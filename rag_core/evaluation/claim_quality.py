"""Whether claims that their evidence supports reach the reader, and others do not."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from rag_core.evaluation.natural import LabelledClaim
from rag_core.evaluation.retrieval_quality import BOOK, Told
from rag_core.retrieval.context import RetrievalContext
from rag_core.retrieval.results import SearchResult

Check = Callable[[str, RetrievalContext, str], Awaitable[bool]]
"""Whether a draft reaches the reader whole and unmarked, given its evidence and the question."""
SENTENCE_ENDS = ".!?"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRow:
    """One claim, and what the check made of it."""

    id: str
    set: str
    kind: str
    claim: str
    is_supported: bool
    stands: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimFigures:
    """The share of supported claims that stand, and of the others that are removed or marked."""

    supported: int
    kept: float | None
    unsupported: int
    caught: float | None


async def checked_claims(
    claims: Sequence[LabelledClaim], check: Check, *, told: Told = lambda done, of: None
) -> tuple[ClaimRow, ...]:
    """Each claim as the only sentence of a draft that cites its evidence."""
    rows = []
    for number, each in enumerate(claims, start=1):
        stands = await check(draft_of(each), evidence_of(each), each.question)
        rows.append(
            ClaimRow(
                id=each.id,
                set=each.corpus,
                kind=each.kind,
                claim=each.claim,
                is_supported=each.is_supported,
                stands=stands,
            )
        )
        told(number, len(claims))
    return tuple(rows)


def draft_of(claim: LabelledClaim) -> str:
    """`Ten a day.` → `Ten a day [1][2].`"""
    text = claim.claim.strip()
    markers = "".join(f"[{rank}]" for rank in range(1, len(claim.evidence) + 1))
    if text.endswith(tuple(SENTENCE_ENDS)):
        return f"{text[:-1]} {markers}{text[-1]}"
    return f"{text} {markers}"


def evidence_of(claim: LabelledClaim) -> RetrievalContext:
    return RetrievalContext(
        query=claim.question,
        results=tuple(
            SearchResult(
                text=each.text,
                chunk_id=f"{claim.id}-{rank}",
                similarity_score=1.0,
                rank=rank,
                rank_score=1.0,
                book_id=BOOK,
                source_file=each.page,
                content_hash=f"{claim.id}-{rank}",
                parent_doc_id=each.page,
                chunk_index=0,
                total_chunks=1,
                page_title=each.title,
            )
            for rank, each in enumerate(claim.evidence, start=1)
        ),
    )


def claim_figures(rows: Sequence[ClaimRow]) -> ClaimFigures:
    supported = [row.stands for row in rows if row.is_supported]
    others = [not row.stands for row in rows if not row.is_supported]
    return ClaimFigures(
        supported=len(supported),
        kept=sum(supported) / len(supported) if supported else None,
        unsupported=len(others),
        caught=sum(others) / len(others) if others else None,
    )


def claims_by_kind(rows: Sequence[ClaimRow]) -> dict[str, ClaimFigures]:
    """Kinds of supported claims first."""
    names = sorted({(not row.is_supported, row.kind) for row in rows})
    return {
        kind: claim_figures([row for row in rows if row.kind == kind])
        for kind in dict.fromkeys(kind for _, kind in names)
    }
