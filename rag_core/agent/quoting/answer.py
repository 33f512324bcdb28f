"""Answers a question in the sentences of its evidence, as they stand, with their markers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_core.agent.checks.passage import LIST_MARK
from rag_core.agent.language.blocks import BlockKind
from rag_core.agent.language.spelling import corrected
from rag_core.agent.parts import Part, parts_of
from rag_core.agent.paste import without_paste
from rag_core.agent.phrases import open_part
from rag_core.agent.quoting.asking import Asked
from rag_core.agent.quoting.choice import chosen
from rag_core.agent.quoting.judge import Judge, Scored
from rag_core.agent.quoting.pieces import QuotedPassage, Unit, units_of
from rag_core.agent.quoting.sides import both_told, sides_of

LEAST_COVERAGE = 0.12
"""The share of the question's weight that a place must have to answer, headings included."""


def quoted_answer(
    question: str, passages: Sequence[QuotedPassage], earlier: Sequence[str] = ()
) -> str:
    """A few pieces with their markers for each thing that is asked; empty: nothing answers.

    What of several things the passages do not answer is named. `earlier`: what the asker said in
    the thread before."""
    units = [unit for passage in passages for unit in units_of(passage)]
    question = without_paste(question)
    texts = [f"{p.title} {p.heading} {p.text}" for p in passages]
    parts = parts_of(question, earlier)
    if len(parts) > 1 and (answer := answer_in_parts(parts, units, texts)):
        return answer
    spelt = corrected(question, texts)
    if (sides := sides_of(spelt)) and units and (told := both_told(sides, units)):
        return written(in_order(told), Judge(Asked.read(spelt), units))
    pieces, judge = pieces_for(spelt, units)
    return written(pieces, judge) if judge else ""


def in_order(units: Sequence[Unit]) -> list[Unit]:
    """The pieces as they stand in the evidence."""
    return sorted(units, key=lambda unit: (unit.passage.rank, unit.place))


def answer_in_parts(parts: Sequence[Part], units: Sequence[Unit], texts: Sequence[str]) -> str:
    """Every part answered, or named as not covered; empty where none is covered."""
    answers: list[str] = []
    quoted: list[Unit] = []
    open_parts: list[str] = []
    for part in parts:
        pieces, judge = pieces_for(corrected(part.whole, texts), units)
        if judge is None or not judge.covers_last(pieces):
            open_parts.append(open_part(part.text))
            continue
        new = [unit for unit in pieces if unit.is_whole or unit not in quoted]
        quoted += new
        answers.append(written(new, judge))
    answered = list(dict.fromkeys(filter(None, answers)))
    return "\n\n".join((*answered, *open_parts)) if answered else ""


def pieces_for(question: str, units: Sequence[Unit]) -> tuple[list[Unit], Judge | None]:
    """What answers one question, and who judged it; nothing where no place is about it."""
    asked = Asked.read(question)
    if not asked.words or not units:
        return [], None
    judge = Judge(asked, units)
    scored = [judge.scored(unit) for unit in units]
    about = [one for one in scored if one.coverage >= LEAST_COVERAGE]
    about = judge.on_the_last(with_codes(about, asked))
    if not about:
        return [], None
    best = max(about, key=lambda one: one.score)
    return [one.unit for one in chosen(scored, about, best, asked)], judge


def with_codes(about: Sequence[Scored], asked: Asked) -> list[Scored]:
    """Those that have most of the codes that are asked about: nothing else tells what they mean."""
    counts = [asked.codes_of(one.unit) for one in about]
    most = max(counts, default=0)
    return [one for one, count in zip(about, counts, strict=True) if count == most]


def written(units: Sequence[Unit], judge: Judge) -> str:
    """The pieces as text: sentences of one passage run on, lists and code stand alone."""
    text = ""
    last: Unit | None = None
    for unit in units:
        if last is not None:
            runs_on = last.passage is unit.passage and not (last.is_whole or unit.is_whole)
            text += " " if runs_on else "\n\n"
        text += marked(unit, judge)
        last = unit
    return text


def marked(unit: Unit, judge: Judge) -> str:
    """A piece with its marker: after the sentence, what leads to code, or the last line."""
    marker = f"[{unit.passage.rank}]"
    match unit.kind:
        case BlockKind.CODE:
            # A marker inside code would be code: where no sentence leads to it, its heading does.
            lead = unit.lead or f"{(unit.section or unit.passage.title).rstrip(' :')}:"
            return f"{with_marker(lead, marker)}\n\n{unit.parts[0]}"
        case BlockKind.TABLE:
            *before, last = judge.telling(unit)
            lead = unit.lead + "\n\n" if unit.lead else ""
            return lead + "\n".join((unit.parts[0], *before, in_last_cell(last, marker)))
        case BlockKind.ITEM:
            parts = unit.parts if judge.keeps_whole(unit) else judge.telling(unit)
            if len(parts) == 1 and not unit.lead:  # alone it is no item of anything
                parts = [LIST_MARK.sub("", parts[0])]
            lines = (unit.lead, *parts) if unit.lead else parts
            return with_marker("\n".join(lines), marker)
        case _:
            return with_marker(unit.text.strip(), marker)


def with_marker(text: str, marker: str) -> str:
    """The marker before the end of the last sentence; of a list that ends in code, of the first
    line."""
    body = text.rstrip()
    if body.endswith("```"):
        first, _, rest = body.partition("\n")
        return f"{with_marker(first, marker)}\n{rest}"
    end = re.search(r"[.!?:…]+[\"'”’)*_]*$", body)
    tail = end.group() if end else ""
    return f"{body[: len(body) - len(tail)]} {marker}{tail}"


def in_last_cell(row: str, marker: str) -> str:
    bare = row.rstrip().removesuffix("|").rstrip()
    return f"{bare} {marker} |"
