"""The verifier without a model: numbers, units, dates, names, code and quoted words must stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from rag_core.agent.verification.alignment import (
    added_words,
    shares_words,
    stands_word_for_word,
    words_for,
)
from rag_core.agent.verification.claims import (
    Claim,
    ClaimKind,
    Passage,
    Support,
    Verdict,
    Verification,
)
from rag_core.agent.verification.names import (
    code_spans,
    code_stands,
    even,
    names_in,
    quoted_in,
    stands_in,
)
from rag_core.agent.verification.quantities import (
    MONTHS,
    UNITS,
    Quantities,
    Quantity,
    quantities_in,
)

SINGULAR = {unit: name for name, unit in reversed(UNITS.items())} | {
    UNITS[name]: name
    for name in ("second", "minute", "hour", "day", "week", "month", "year", "byte")
}
LEADING = frozenset({ClaimKind.HEADING, ClaimKind.LEAD_IN})
CLOSE = 0.02
"""How far apart two amounts may lie that are written in different units."""
WORD = re.compile(r"\w+")
LIST_ROW = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]|^[ \t]*\|", re.MULTILINE)
SEPARATOR = re.compile(r",\s*(?:and|or|und|oder|y|o|et|ou)?\s|\s(?:and|or|und|oder|y|o|et|ou)\s")


class CodeVerifier:
    """Compares what can be compared without reading; whatever else a claim says passes."""

    @property
    def name(self) -> str:
        return "code"

    async def verify(self, claims: Sequence[Claim]) -> Verification:
        return Verification(verdicts=[judge(claim) for claim in claims])


def judge(claim: Claim) -> Verdict:
    """What code alone can tell of a claim."""
    if not claim.passages:
        return Verdict(support=Support.NOT_FOUND, reason="No passage says this.")
    if fault := fault_in(claim):
        return Verdict(support=Support.CONTRADICTED, reason=fault)
    if not claim.is_foreign and claim.kind is not ClaimKind.LEAD_IN and not shares_words(claim):
        where = named_passages(claim).capitalize()
        return Verdict(support=Support.NOT_FOUND, reason=f"{where} says nothing of this.")
    backing = [p for p in claim.passages if says_alone(claim, p)] or claim.passages
    quotes = {p.rank: words for p in backing if (words := words_for(claim.text, p))}
    return Verdict(support=Support.SUPPORTED, quotes=quotes)


def says_alone(claim: Claim, passage: Passage) -> bool:
    """Whether one of several passages backs a claim without the others."""
    if len(claim.passages) == 1:
        return True
    alone = replace(claim, passages=(passage,))
    return not fault_in(alone) and (claim.is_foreign or shares_words(alone))


def fault_in(claim: Claim) -> str:
    """The first thing that the passages of a claim do not say as it does; empty: there is none."""
    text = "\n".join(passage.whole for passage in claim.passages)
    where = named_passages(claim)
    if claim.kind is ClaimKind.CODE:
        return code_fault(claim.text, text, where)
    if stands_word_for_word(claim.text, claim.passages):
        return ""
    if claim.kind in LEADING:
        return next(name_faults(claim.text, text, where), "")
    return next(chain(name_faults(claim.text, text, where), faults(claim.text, text, where)), "")


def invented(claim: Claim) -> bool:
    """Whether a claim has code, a name or a quotation that neither question nor evidence has."""
    known = "\n".join([claim.question, *(passage.whole for passage in claim.evidence)])
    return any(name_faults(claim.text, known, "")) and not claim.is_foreign


def named_passages(claim: Claim) -> str:
    ranks = [str(passage.rank) for passage in claim.passages]
    return f"passage{'s' if len(ranks) > 1 else ''} {' and '.join(ranks)}"


def code_fault(code: str, text: str, where: str) -> str:
    """The first line of a code block that the evidence does not have."""
    there = even(text)
    for line in code.splitlines():
        if line.strip() and not code_stands(line, there):
            return f"`{line.strip()}` is not in {where}."
    return ""


def name_faults(sentence: str, text: str, where: str) -> Iterator[str]:
    """Code, names, quoted words, and what was added to words of the evidence."""
    there = even(text)
    for code in code_spans(sentence):
        if not code_stands(code, there) and not code_stands(code, there.replace("`", "")):
            yield f"`{code}` is not in {where}."
    for name in names_in(sentence):
        if not stands_in(name, there, ignore_case=True):
            yield f"{name} is not in {where}."
    for words in quoted_in(sentence):
        if not quoted_stands(words, there):
            yield f"“{words}” is not in {where}."
    if added := added_words(sentence, text):
        yield f"{added} is not in {where}."


def faults(sentence: str, text: str, where: str) -> Iterator[str]:
    said, evidence = quantities_in(sentence), quantities_in(text)
    for number in said.numbers:
        if fault := number_fault(number, said, evidence, sentence, text):
            yield f"{fault.format(where=where)}"
    counted = {(number.kind, number.factor) for number in said.numbers}
    named = evidence.units | {(number.kind, number.factor) for number in evidence.numbers}
    for kind, factor in said.singles - counted:
        if not has_single(kind, factor, evidence, text):
            yield f"{where.capitalize()} does not say {SINGULAR[kind, factor]}."
    if said.units - counted - said.singles - named:
        yield f"{where.capitalize()} does not speak of this unit."
    yield from date_faults(said, evidence, text, where)


def has_single(kind: str, factor: float, evidence: Quantities, text: str) -> bool:
    """Whether the evidence has one of a unit, or an amount that is as much."""
    if (kind, factor) in evidence.singles:
        return True
    amounts = (a for other in evidence.numbers if other.kind == kind for a in other.amounts())
    if any(abs(amount - factor) <= CLOSE * factor for amount in amounts):
        return True
    name = SINGULAR[kind, factor]
    return re.search(rf"\b{re.escape(name)}\b", text, re.IGNORECASE) is not None


def quoted_stands(words: str, there: str) -> bool:
    flat = re.sub(r"[*_`]", "", there).lower()
    return re.sub(r"[*_`]", "", words).lower() in flat


def number_fault(
    number: Quantity, said: Quantities, evidence: Quantities, sentence: str, text: str
) -> str:
    """Why a number does not stand; empty where it does."""
    same = [other for other in evidence.numbers if other.values & number.values]
    if not number.kind:
        if same or is_year_of(number, evidence) or is_counted(number, sentence, text):
            return ""
        return f"{number.words} is not in {{where}}."
    alike = [other for other in evidence.numbers if other.kind == number.kind]
    if any(is_same_amount(number, other) for other in alike):
        return ""
    beside = (other for other in said.numbers if other.kind == number.kind and other != number)
    if any(
        is_same_amount(number, other)
        and any(other.values & there.values for there in evidence.numbers)
        for other in beside
    ):
        return ""  # 600 seconds, that is ten minutes
    is_other_unit = any(other.kind == number.kind for other in same)
    if any(not other.kind for other in same) and not is_other_unit and has_unit(number, evidence):
        return ""
    instead = next((other.words for other in (*same, *alike) if other.kind), "")
    if number.is_word and is_counted(number, sentence, text):
        return ""
    return f"{number.words} is not in {{where}}" + (f"; it says {instead}." if instead else ".")


def has_unit(number: Quantity, evidence: Quantities) -> bool:
    return (number.kind, number.factor) in evidence.units or number.kind not in {
        kind for kind, _ in evidence.units
    }


def is_same_amount(one: Quantity, other: Quantity) -> bool:
    if one.factor == other.factor:
        return bool(one.values & other.values) or any(
            f"{amount / other.factor:.0f}" in one.values for amount in other.amounts()
        )
    return any(abs(a - b) <= CLOSE * max(a, b) for a in one.amounts() for b in other.amounts())


def is_year_of(number: Quantity, evidence: Quantities) -> bool:
    return any(str(year) in number.values for year, _, _ in evidence.dates if year)


def is_counted(number: Quantity, sentence: str, text: str) -> bool:
    """Whether a number in words counts what is listed in the sentence or in the evidence."""
    if not number.is_word:
        return False
    if "2" in number.values and not number.kind:
        return True
    rows = LIST_ROW.findall(text)
    listed = max(len(SEPARATOR.split(part)) for part in re.split(r"[:;]", sentence))
    most = max(len(list(code_spans(sentence))), listed if listed > 2 else 0)
    return any(
        int(value) in {len(rows), len(rows) - 2} or int(value) <= most for value in number.values
    )


def date_faults(said: Quantities, evidence: Quantities, text: str, where: str) -> Iterator[str]:
    words = frozenset(WORD.findall(text.lower()))
    for date in said.dates:
        if not date_stands(date, evidence, words):
            yield f"{written_date(date)} is not in {where}."
    for weekday in said.weekdays:
        if words.isdisjoint({weekday, f"{weekday}s", weekday[:3]}):
            yield f"{weekday.capitalize()} is not in {where}."
    for clock in said.clocks - evidence.clocks:
        if clock.replace(":", "") not in words:
            yield f"{clock} is not in {where}."


def date_stands(date: tuple[int, int, int], evidence: Quantities, words: frozenset[str]) -> bool:
    """Whether the evidence has a date, or has its parts apart from each other."""
    year, month, day = date
    years = {other[0] for other in evidence.dates}
    for other in evidence.dates:
        if other[1] == month and day in {0, other[2]} and (not year or other[0] in {year, 0}):
            return not year or year in years or str(year) in words
    if evidence.dates:
        return False
    names = {name for name, number in MONTHS.items() if number == month}
    return not words.isdisjoint(names) and {str(each) for each in (year, day) if each} <= words


def written_date(date: tuple[int, int, int]) -> str:
    year, month, day = date
    name = next(name for name, number in MONTHS.items() if number == month).capitalize()
    return " ".join(str(part) for part in (day, name, year) if part)
