"""Chooses the pieces that make an answer together: the best one, and what goes with it."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.agent.checks.numbers import numbers_in
from rag_core.agent.language.words import content
from rag_core.agent.quoting.asking import Asked
from rag_core.agent.quoting.judge import LONG_ENOUGH, MOST_OF_IT, Scored
from rag_core.agent.quoting.pieces import LEANING, Unit
from rag_core.agent.quoting.telling import leads_on, replies

MAX_UNITS = 4
MAX_WHOLE = 2
"""Lists, tables and code blocks in one answer."""
FURTHER_COVERAGE = 0.34
"""The share of the question's weight that a piece must have which is to stand beside the best."""
ALSO_WORTH = 0.8
"""How good a further piece must be, measured by the best one."""
BY_ITSELF = 0.6
"""The share of the question's weight by which a piece of another passage earns its place."""
NEIGHBOUR = 0.6
UNSURE = 0.5
"""A best piece with a smaller share of what the evidence has of the question may not be what was
meant."""
MAX_BEFORE = 2
REPEATED = 0.7
ALIKE = 0.4
"""The share of their words, numbers among them, by which two sentences tell of the same."""


def chosen(
    scored: Sequence[Scored], about: Sequence[Scored], best: Scored, asked: Asked
) -> list[Scored]:
    """The best piece, what goes with it in its passage, and what others of those add that are
    about the question."""
    picked = [best, *(one for one in scored if asked.goes_on(best.unit, one.unit))]
    for one in sorted(about, key=lambda s: -s.score):
        if len(picked) == MAX_UNITS:
            break
        if one.unit.is_whole and sum(p.unit.is_whole for p in picked) >= MAX_WHOLE:
            continue
        if one not in picked and not asked.excludes(one.unit) and adds(one, picked, best, asked):
            picked.append(one)
    picked = readable(picked, scored, asked)
    order = {p.unit.passage.rank: at for at, p in reversed(list(enumerate(picked)))}
    return sorted(picked, key=lambda p: (order[p.unit.passage.rank], p.unit.place))


def adds(one: Scored, picked: Sequence[Scored], best: Scored, asked: Asked) -> bool:
    """Whether a piece is good enough, says something that is not said yet, and was asked for."""
    is_next = one.unit.passage is best.unit.passage and abs(one.unit.place - best.unit.place) == 1
    is_near = is_next or (asked.compares and not one.held <= best.told)
    if one.score < (NEIGHBOUR if is_near else ALSO_WORTH) * best.score:
        return False
    if one.coverage < FURTHER_COVERAGE * (0.5 if is_near else 1.0):
        return False
    if one.unit.passage is not best.unit.passage and not brings(one, picked):
        return False
    own = set(content(one.unit.text))
    if any(len(own & set(content(p.unit.text))) >= REPEATED * len(own) for p in picked):
        return False
    return is_asked_for(one, picked)


def is_asked_for(one: Scored, picked: Sequence[Scored]) -> bool:
    """Whether a piece has words of the question that nothing has so far, or the number or name
    that is asked for; beside a best piece that has little of the question, one more sentence may
    stand."""
    if one.held - frozenset[str]().union(*(p.told for p in picked)):
        return True
    if one.has_form and not any(p.has_form for p in picked):
        return True
    if says_otherwise(one.unit, picked[0].unit):
        return True
    return len(picked) == 1 and picked[0].reached < UNSURE and not one.unit.is_whole


def brings(one: Scored, picked: Sequence[Scored]) -> bool:
    """Whether a piece of another passage is about the question by its own words, or has words of
    the question that nothing has so far."""
    if one.coverage >= BY_ITSELF and one.own >= FURTHER_COVERAGE:
        return True
    known = frozenset[str]().union(*(p.held for p in picked))
    return one.own >= FURTHER_COVERAGE and not one.held <= known


def says_otherwise(unit: Unit, best: Unit) -> bool:
    """Whether another passage says the same with other numbers: the reader must see both."""
    if unit.is_whole or best.is_whole or unit.passage is best.passage:
        return False
    own, said = set(content(unit.text)), set(content(best.text))
    differs = bool(numbers_in(unit.text) ^ numbers_in(best.text))
    return differs and len(own & said) >= ALIKE * max(len(own), len(said))


def readable(picked: Sequence[Scored], scored: Sequence[Scored], asked: Asked) -> list[Scored]:
    """With what the pieces lean on: the sentence before one that begins with `it` or `they`, and
    after a reason that is given in one short sentence the next one."""
    at = {(one.unit.passage.rank, one.unit.place): one for one in scored}
    full = list(picked)
    for one in picked:
        unit, leaning = one.unit, one
        for back in range(1, MAX_BEFORE + 1):
            before = at.get((unit.passage.rank, unit.place - back))
            if before is None or not leans(leaning.unit, before.unit):
                break
            full.append(before)
            leaning = before
        after = at.get((unit.passage.rank, unit.place + 1))
        is_open = (one is picked[0] and asked.wants_reason) or is_brief(one)
        if after is not None and is_open and run_on(unit, after.unit):
            full.append(after)
    return list({(one.unit.passage.rank, one.unit.place): one for one in full}.values())


def is_brief(one: Scored) -> bool:
    """Whether a sentence says so little that the next one must explain it."""
    says_little = len(set(content(one.unit.text))) < LONG_ENOUGH
    return not one.unit.is_whole and says_little and one.own < MOST_OF_IT


def leans(unit: Unit, before: Unit) -> bool:
    """Whether a sentence cannot be read without the one before it."""
    if replies(unit, before):
        return True
    return run_on(before, unit) and LEANING.match(unit.text.strip()) is not None


def run_on(first: Unit, second: Unit) -> bool:
    """Whether two sentences stand one after the other in one section."""
    if first.is_whole or second.is_whole or leads_on(second):
        return False
    return first.section == second.section
