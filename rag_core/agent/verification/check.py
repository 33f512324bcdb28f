"""The third wall: what of a draft its evidence supports, as an answer with its footnotes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rag_core.agent.answer import Citation, Mark, RemovedClaim
from rag_core.agent.checks.instructions import for_readers
from rag_core.agent.phrases import Phrases, named_open
from rag_core.agent.verification.alignment import (
    backing,
    is_in_another_language,
    stands_word_for_word,
)
from rag_core.agent.verification.claims import Claim, ClaimKind, Passage, Support, Verdict
from rag_core.agent.verification.code import LEADING, code_fault, invented, judge
from rag_core.agent.verification.draft import (
    DraftReader,
    Nodes,
    Statement,
    pruned,
    statements_in,
    written,
)
from rag_core.agent.verification.footnotes import Footnotes
from rag_core.agent.verification.markers import at_end, renumbered
from rag_core.agent.verification.sources import without_sources
from rag_core.errors import FootnoteError
from rag_core.ports.models import Verifier
from rag_core.retrieval.context import RetrievalContext
from rag_core.retrieval.results import SearchResult
from rag_core.text.visible import visible

log = logging.getLogger(__name__)

LEAST_SECONDS = 2.0
"""With less time left the verifier is not asked."""
COLLATERAL = "It stood in a block that was left out."
MOST_SECONDS = 20.0
"""The verifier is waited for no longer: a second try needs its time, too."""
ASKS = ("?", "!", "？", "！")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedText:
    """A reply after the check: what stands, its footnotes, and what does not stand."""

    text: str
    citations: tuple[Citation, ...] = ()
    marks: tuple[Mark, ...] = ()
    faults: tuple[RemovedClaim, ...] = ()
    """Every sentence that does not stand, for the model to write anew."""
    removed: tuple[RemovedClaim, ...] = ()
    """Contradicted or made up; not in the text any more."""
    unfound: tuple[RemovedClaim, ...] = ()
    """Merely not said by the documents; in the text, and marked there."""
    checked_by: str = ""
    tokens: int = 0
    """What the verifier took of the language model."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of one statement."""

    statement: Statement
    verdict: Verdict
    ranks: tuple[int, ...] = ()
    is_marked: bool = False
    """Whether it stays although no passage says it, and says so."""
    is_silent: bool = False
    """Whether it may go without being missed: it claims nothing."""

    @property
    def stays(self) -> bool:
        return self.verdict.stands or self.is_marked


class AnswerCheck:
    """Judges every statement of a draft by code, and by the verifier where one is configured."""

    def __init__(self, verifier: Verifier | None = None) -> None:
        self._verifier = verifier

    async def check(
        self,
        draft: str,
        context: RetrievalContext,
        *,
        question: str,
        phrases: Phrases,
        seconds: float = 60.0,
    ) -> CheckedText:
        """The part of a draft that stands, its footnotes numbered from 1 as they appear."""
        draft = without_sources(draft)
        evidence = [passage_of(result) for result in context.results]
        whole = "\n".join(passage.whole for passage in evidence)
        nodes = DraftReader(ranks={p.rank for p in evidence}, evidence=whole).read(draft)
        is_foreign = is_in_another_language(draft, evidence)
        statements = list(statements_in(nodes))
        claims = [claim_of(one, evidence, question, is_foreign=is_foreign) for one in statements]
        by_code = [judge(claim) for claim in claims]
        verdicts, checked_by, tokens = await self._verified(claims, by_code, seconds=seconds)
        decisions = {
            id(statement): decision(statement, claim, code, verdict)
            for statement, claim, code, verdict in zip(
                statements, claims, by_code, verdicts, strict=True
            )
        }
        checked = finished(nodes, decisions, context.results, phrases, checked_by)
        return replace(checked, tokens=tokens)

    async def _verified(
        self, claims: Sequence[Claim], by_code: Sequence[Verdict], *, seconds: float
    ) -> tuple[Sequence[Verdict], str, int]:
        """The verdicts of the verifier, with those of code where something is made up, where a
        claim repeats the evidence word for word, and where the verifier gives none or fails."""
        open_ones = [
            place
            for place, (claim, verdict) in enumerate(zip(claims, by_code, strict=True))
            if needs_reading(claim, verdict)
        ]
        if self._verifier is None or not open_ones:
            return by_code, "code" if self._verifier is None else self._verifier.name, 0
        if seconds < LEAST_SECONDS:
            return by_code, "code (no time was left to ask the language model)", 0
        try:
            async with asyncio.timeout(min(seconds, MOST_SECONDS)):
                found = await self._verifier.verify(
                    [replace(claims[place], finding=by_code[place].reason) for place in open_ones]
                )
        except (TimeoutError, FootnoteError) as error:
            cause = "timed out" if isinstance(error, TimeoutError) else "failed"
            log.warning("verification failed", extra={"cause": type(error).__name__})
            return by_code, f"code (the language model's check {cause})", 0
        verdicts = list(by_code)
        for place, verdict in zip(open_ones, found.verdicts, strict=True):
            is_code = claims[place].kind is ClaimKind.CODE
            if verdict and (not is_code or verdict.support is Support.CONTRADICTED):
                verdicts[place] = verdict
        missing = found.verdicts.count(None)
        if missing:
            log.warning("verdicts missing", extra={"missing": missing, "of": len(open_ones)})
        return verdicts, checkers(self._verifier.name, missing, len(open_ones)), found.tokens


def checkers(verifier: str, missing: int, asked: int) -> str:
    """What checked the claims: code does it for those that the verifier left out."""
    if not missing:
        return verifier
    if missing == asked:
        return "code (the language model's check failed)"
    return f"{verifier} (code for {missing} of {asked} sentences, which it left out)"


def passage_of(result: SearchResult) -> Passage:
    return Passage(
        rank=result.rank,
        text=for_readers(visible(result.text)),
        headings=visible(f"{result.page_title}\n{result.section_heading}"),
    )


def claim_of(
    statement: Statement, evidence: Sequence[Passage], question: str, *, is_foreign: bool
) -> Claim:
    """A statement with the passages that it is judged by."""
    text = statement.claim
    if statement.kind in LEADING:
        passages: tuple[Passage, ...] = tuple(evidence)
    elif statement.kind is ClaimKind.CODE:
        passages = holding_code(text, evidence, beside=statement.beside)
    elif statement.cited:
        passages = tuple(passage for passage in evidence if passage.rank in statement.cited)
    else:
        passages = backing(text, evidence, beside=statement.beside, is_foreign=is_foreign)
    return Claim(
        text=text,
        passages=passages,
        evidence=evidence,
        context=statement.context,
        question=question,
        kind=statement.kind,
        is_cited=bool(statement.cited),
        is_foreign=is_foreign,
    )


def holding_code(
    code: str, evidence: Sequence[Passage], *, beside: Sequence[int]
) -> tuple[Passage, ...]:
    """The passage that has a block of code, else the one that is cited above it."""
    near = sorted(evidence, key=lambda passage: passage.rank not in beside)
    holding = (passage for passage in near if not code_fault(code, passage.whole, ""))
    found = next(holding, near[0] if near and near[0].rank in beside else None)
    return (found,) if found else backing(code, evidence, beside=beside, is_foreign=False)


def needs_reading(claim: Claim, by_code: Verdict) -> bool:
    """Whether a claim is left to the verifier: it does not repeat the evidence, and nothing in it
    is made up. A number that code misses may be a sum, and a name may stand in another passage.
    Code that the evidence has may still be said to do what other code does."""
    if claim.kind is ClaimKind.CODE:
        return bool(claim.context) and by_code.stands
    return (
        claim.kind in {ClaimKind.PROSE, ClaimKind.ROW}
        and not stands_word_for_word(claim.text, claim.passages)
        and not (by_code.support is Support.CONTRADICTED and invented(claim))
    )


def decision(statement: Statement, claim: Claim, by_code: Verdict, verdict: Verdict) -> Decision:
    if statement.kind in LEADING:
        return Decision(statement, verdict, is_silent=True)
    if (part := named_open(claim.text)) and part in claim.question:
        return Decision(statement, Verdict(support=Support.NO_CLAIM))
    if verdict.support is Support.NO_CLAIM and statement.cited:
        verdict = by_code
    ranks = tuple(verdict.quotes) if verdict.support is Support.SUPPORTED else ()
    if not ranks and verdict.support is Support.SUPPORTED:
        ranks = tuple(passage.rank for passage in claim.passages)
    is_known = by_code.support is Support.SUPPORTED
    return Decision(
        statement,
        verdict,
        ranks=in_order(ranks, statement.cited),
        is_marked=verdict.support is Support.NOT_FOUND and is_known,
        is_silent=not statement.cited and not claim.passages and claim.text.endswith(ASKS),
    )


def in_order(ranks: Sequence[int], cited: Sequence[int]) -> tuple[int, ...]:
    """Those that the model cited first, in its order."""
    return tuple(dict.fromkeys([*(rank for rank in cited if rank in ranks), *ranks]))


def finished(
    nodes: Nodes,
    decisions: Mapping[int, Decision],
    results: Sequence[SearchResult],
    phrases: Phrases,
    checked_by: str,
) -> CheckedText:
    kept = pruned(nodes, lambda statement: decisions[id(statement)].stays)
    shown = {id(statement) for statement in statements_in(kept)}
    gone = [each for key, each in decisions.items() if key not in shown and not each.is_silent]
    marked = [each for key, each in decisions.items() if key in shown and each.is_marked]
    checked = CheckedText(
        text="",
        faults=tuple(map(fault_of, (*gone, *marked))),
        removed=tuple(removed_claims(gone)),
        unfound=tuple(map(fault_of, marked)),
        checked_by=checked_by,
    )
    if not any(decisions[key].ranks for key in shown):
        return checked
    footnotes = Footnotes(results)
    repeated = repeated_in(kept, decisions)

    def write(statement: Statement) -> str:
        each = decisions[id(statement)]
        ranks = () if id(statement) in repeated else each.ranks
        quotes = each.verdict.quotes
        text = renumbered(statement.text, ranks, lambda rank: footnotes.add(rank, quotes))
        return at_end(text, f" *({phrases.not_found})*") if each.is_marked else text

    text = written(kept, write)
    return replace(checked, text=text, citations=footnotes.citations, marks=footnotes.marks)


def fault_of(each: Decision) -> RemovedClaim:
    return RemovedClaim(text=each.statement.claim, reason=each.verdict.reason or COLLATERAL)


def removed_claims(gone: Sequence[Decision]) -> Iterator[RemovedClaim]:
    """What was left out and why. What has nothing to do with the evidence is counted, not repeated:
    it may be anything that the model was made to say."""
    strange = sum(each.verdict.support is Support.NOT_FOUND for each in gone)
    yield from (fault_of(each) for each in gone if each.verdict.support is not Support.NOT_FOUND)
    if strange:
        yield RemovedClaim(text="…", reason=f"Sentences that no passage speaks of: {strange}.")


def repeated_in(nodes: Nodes, decisions: Mapping[int, Decision]) -> set[int]:
    """Statements without a marker of their own whose passages a later one in the same block cites:
    one marker stands for the run."""
    repeated: set[int] = set()
    for node in nodes:
        later: set[int] = set()
        for statement in reversed(list(statements_in([node]))):
            ranks = set(decisions[id(statement)].ranks)
            if ranks and not statement.cited and ranks <= later:
                repeated.add(id(statement))
            later |= ranks
    return repeated
