"""Markers become footnotes: code, not the model, decides what counts as one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag_core.agent.answer import Citation
from rag_core.agent.checks.fragments import to_quoted
from rag_core.agent.checks.manners import is_courtesy, without_sources
from rag_core.agent.checks.markers import markers_in, normalised
from rag_core.agent.checks.support import Evidence, is_connecting
from rag_core.agent.language.blocks import Block, BlockKind, blocks_of
from rag_core.agent.language.sentences import CODE_OR_MARKER, MARKER, sentences_of, without_markers
from rag_core.agent.language.words import content

MAX_CITATIONS = 5
CLAIM_WORDS = 3
"""A sentence with fewer words of its own is no good for finding the words to quote."""
SENTENCE_END = re.compile(r"(?P<end>[.!?…:]*[\"'”’)*_]*)(?P<space>\s*)$")
RULE_ROW = re.compile(r"^\s*\|?[\s:|-]+\|?\s*$")
EMPTY_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])?\s*$")


@dataclass(frozen=True, slots=True)
class Kept:
    """A sentence that stays, and the passages that support it; none: it claims nothing."""

    text: str
    numbers: tuple[int, ...] = ()
    is_marked: bool = False
    """Whether the model itself cited one of these passages here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedText:
    """A reply after the check: what is supported, its footnotes, and how much was struck out."""

    text: str
    citations: tuple[Citation, ...] = ()
    struck: tuple[str, ...] = ()


def checked(draft: str, evidence: Evidence) -> CheckedText:
    """The supported part of a draft, its footnotes numbered from 1 as they appear."""
    struck: list[str] = []
    draft = without_sources(draft)
    evidence = evidence.told_in(draft)
    blocks = blocks_of(draft)
    kept = [
        part
        for place, block in enumerate(blocks)
        for part in kept_parts(block, evidence.preferring(cited_below(blocks[place:])), struck)
    ]
    numbering = numbered(kept)
    if not numbering:
        return CheckedText(text="", struck=tuple(struck))
    text = "".join(written(part, numbering) for part in without_repeats(kept))
    citations = tuple(citation(number, rank, kept, evidence) for rank, number in numbering.items())
    known = swept(tidied(text), count=len(citations))
    return CheckedText(text=known, citations=citations, struck=tuple(struck))


def cited_below(blocks: Sequence[Block]) -> Sequence[int]:
    """What the rows or items that begin here cite in the end: one marker stands for all of them."""
    for block in blocks:
        if block.kind in {BlockKind.BLANK, BlockKind.PARAGRAPH, BlockKind.HEADING}:
            break
        if block.kind is not BlockKind.CODE and (cited := markers_in(normalised(block.text))):
            return cited
    return ()


def kept_parts(block: Block, evidence: Evidence, struck: list[str]) -> Iterator[Kept]:
    """What stays of one block; an item or a row of which nothing stays goes as a whole."""
    if block.kind is BlockKind.BLANK:
        yield Kept(block.text)
    elif block.kind is BlockKind.CODE:
        yield from kept_code(block.text, evidence, struck)
    elif block.kind is BlockKind.TABLE:
        yield from kept_table(block.text, evidence, struck)
    else:
        yield from kept_lines(block, evidence, struck)


def kept_table(table: str, evidence: Evidence, struck: list[str]) -> Iterator[Kept]:
    """The rows that are supported, below the head that names their columns."""
    rows = table.splitlines(keepends=True)
    has_head = len(rows) > 2 and RULE_ROW.match(rows[1]) is not None
    head, body = (rows[:2], rows[2:]) if has_head else ([], rows)
    kept = [part for row in body for part in kept_sentences([row], evidence, struck)]
    if kept:
        yield Kept(without_markers("".join(head)))
        yield from kept


def kept_lines(block: Block, evidence: Evidence, struck: list[str]) -> Iterator[Kept]:
    body = block.text.rstrip("\n")
    kept = list(kept_sentences(sentences_of(normalised(body)), evidence, struck))
    if any(not EMPTY_ITEM.match(part.text) for part in kept):
        yield from kept
        yield Kept(block.text[len(body) :])


def kept_code(code: str, evidence: Evidence, struck: list[str]) -> Iterator[Kept]:
    """Code stays as it is when the evidence has most of its words."""
    number = evidence.supports_code(code)
    if number is None:
        struck.append(code)
        return
    yield Kept(code)


def kept_sentences(
    sentences: Sequence[str], evidence: Evidence, struck: list[str]
) -> Iterator[Kept]:
    for sentence in sentences:
        claim = without_markers(sentence)
        if is_connecting(claim) or evidence.is_open(claim):
            yield Kept(claim)
            continue
        cited = markers_in(sentence)
        numbers = supporting(claim, cited, evidence)
        if not numbers and is_courtesy(claim):
            continue
        if numbers:
            yield Kept(sentence, numbers, is_marked=bool(set(numbers) & set(cited)))
        else:
            struck.append(claim.strip())


def supporting(claim: str, cited: Sequence[int], evidence: Evidence) -> tuple[int, ...]:
    """The passages that a sentence rests on: those cited, or else the one that says it."""
    each = tuple(number for number in cited if evidence.supports(claim, [number]))
    if each:
        return each
    if evidence.supports(claim, cited):
        return tuple(number for number in cited if number in evidence.passages)
    if evidence.is_foreign(claim, cited):
        return ()  # words do not tell which other passage says it
    best = evidence.best_for(claim)
    return () if best is None else (best,)


def numbered(kept: Sequence[Kept]) -> dict[int, int]:
    """Rank → footnote, in order of appearance; later passages get no footnote."""
    ranks = dict.fromkeys(rank for part in kept for rank in part.numbers)
    return {rank: number for number, rank in enumerate(list(ranks)[:MAX_CITATIONS], start=1)}


def without_repeats(kept: Sequence[Kept]) -> list[Kept]:
    """In a run of lines, only the last of the sentences that cite nothing themselves and rest on
    the same passages gets a marker: it stands for all of them."""
    parts: list[Kept] = []
    later: set[int] = set()
    for part in reversed(kept):
        if not part.text.strip() and part.text.count("\n") != 1:
            later = set()
        if part.numbers and not part.is_marked and set(part.numbers) <= later:
            parts.append(Kept(without_markers(part.text)))
            continue
        later |= set(part.numbers)
        parts.append(part)
    return parts[::-1]


def written(part: Kept, numbering: dict[int, int]) -> str:
    """A sentence with its new numbers in the places of the old ones, else at its end."""
    if not part.numbers:
        return part.text
    placed: set[int] = set()

    def renumbered(found: re.Match[str]) -> str:
        if found["ticks"]:
            return found.group()
        rank = int(MARKER.search(found.group()).group(1))  # type: ignore[union-attr]  # found by it
        if rank not in part.numbers or rank in placed or rank not in numbering:
            return ""
        placed.add(rank)
        space = found.group()[: len(found.group()) - len(found.group().lstrip())]
        return f"{space}[{numbering[rank]}]"

    text = CODE_OR_MARKER.sub(renumbered, part.text)
    rest = "".join(f"[{numbering[n]}]" for n in part.numbers if n not in placed and n in numbering)
    return at_end(text, rest) if rest and not placed else text


def at_end(sentence: str, marker: str) -> str:
    """A marker before the full stop, or inside the last cell of a table's row."""
    body = sentence.rstrip()
    space = sentence[len(body) :]
    if body.endswith("|"):
        return f"{body[:-1].rstrip()} {marker} |{space}"
    end = SENTENCE_END.search(body)
    tail = end.group("end") if end else ""
    return f"{body[: len(body) - len(tail)]} {marker}{tail}{space}"


def citation(number: int, rank: int, kept: Sequence[Kept], evidence: Evidence) -> Citation:
    result = evidence.passages[rank].result
    said = [without_markers(part.text) for part in kept if rank in part.numbers]
    sentence = next((claim for claim in said if len(content(claim)) >= CLAIM_WORDS), said[0])
    quoted = evidence.quote(rank, sentence)
    part = result.part_with(quoted)
    return Citation(
        number=number,
        page_title=result.page_title,
        section_heading=result.section_heading,
        chunk_id=part.chunk_id,
        content_hash=part.content_hash,
        quote=quoted,
        module=result.module,
        page_url=to_quoted(part.page_url, quoted),
    )


def swept(text: str, *, count: int) -> str:
    """The text without any marker that no footnote answers to, wherever it came from."""
    return "".join(
        block.text if block.kind is BlockKind.CODE else unforged(block.text, count)
        for block in blocks_of(text)
    )


def unforged(prose: str, count: int) -> str:
    def known(found: re.Match[str]) -> str:
        cited = MARKER.search(found.group())
        is_known = found["ticks"] or cited is None or 1 <= int(cited.group(1)) <= count
        return found.group() if is_known else ""

    return CODE_OR_MARKER.sub(known, prose)


def tidied(text: str) -> str:
    """Without the gaps that struck sentences left; code stays as it is."""
    parts: list[str] = []
    prose = ""
    for block in blocks_of(text):
        if block.kind is not BlockKind.CODE:
            prose += block.text
            continue
        parts += [without_gaps(prose), block.text]
        prose = ""
    return "".join([*parts, without_gaps(prose)]).strip("\n \t")


def without_gaps(prose: str) -> str:
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+\n", "\n", prose))
