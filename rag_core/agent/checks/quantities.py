"""Numbers with what they count, and dates: what a sentence must not change."""

from __future__ import annotations

import re
from functools import lru_cache

from rag_core.agent.checks.numbers import WORDS, plain
from rag_core.agent.language.words import words

UNITS = {
    "second": "s sec secs second seconds", "minute": "min mins minute minutes",
    "hour": "h hr hrs hour hours", "day": "d day days", "week": "week weeks weekly",
    "month": "month months monthly", "year": "yr yrs year years yearly annually",
    "quarter": "quarter quarters quarterly", "millisecond": "ms millisecond milliseconds",
    "mm": "mm millimetre millimetres millimeter millimeters", "cm": "cm centimetre centimetres",
    "m": "m metre metres meter meters", "km": "km kilometre kilometres kilometer kilometers",
    "mile": "mi mile miles", "m/s": "m/s",
    "m/s²": "m/s²", "km/h": "km/h", "inch": "in inch inches", "foot": "ft foot feet",
    "mg": "mg milligram milligrams", "g": "g gram grams", "kg": "kg kilo kilos kilogram kilograms",
    "lb": "lb lbs pound pounds", "newton": "n newton newtons", "watt": "w watt watts",
    "kilowatt": "kw kilowatt kilowatts", "volt": "v volt volts", "hertz": "hz hertz",
    "litre": "l litre litres liter liters", "ml": "ml millilitre millilitres",
    "byte": "b byte bytes", "KB": "kb kib kilobyte kilobytes", "MB": "mb mib megabyte megabytes",
    "GB": "gb gib gigabyte gigabytes", "TB": "tb tib terabyte terabytes",
    "percent": "% percent per-cent", "celsius": "°c celsius", "fahrenheit": "°f fahrenheit",
    "degree": "° degree degrees", "euro": "€ eur euro euros", "dollar": "$ usd dollar dollars",
    "sterling": "£ gbp", "pixel": "px pixel pixels", "token": "token tokens",
}  # fmt: skip
ELSEWHERE = {
    "second": "sekunde sekunden segundo segundos seconde secondes",
    "minute": "minuten minuto minutos", "hour": "stunde stunden hora horas heure heures",
    "day": "tag tage tagen día días jour jours",
    "week": "woche wochen semana semanas semaine semaines",
    "month": "monat monate monaten mes meses mois", "m": "metro metros mètre mètres",
    "year": "jahr jahre jahren año años année années", "percent": "prozent",
}  # fmt: skip
"""The same in the languages that answers are given in, whatever the documents are written in."""
UNIT_OF = {
    form: unit
    for names in (UNITS, ELSEWHERE)
    for unit, forms in names.items()
    for form in forms.split()
}
NUMBER = r"(?:[€$£]\s?)?\d+(?:[,'’\u202f\u00a0]\d{3}(?!\d))*(?:\.\d+)?"
COUNTED = re.compile(
    rf"(?P<sign>[€$£])?(?P<number>{NUMBER}|\b(?:{'|'.join(WORDS)})\b)"
    rf"(?:\s?(?:to|-|–|and|or|by)\s?(?P<upto>{NUMBER}))?"
    r"[\s\u00a0-]?(?:(?P<sort>working|full|whole|more|calendar|business)\s)?"
    r"(?P<unit>%|°\s?[CcFf]?|[€$£]|[A-Za-z]+(?:-cent|/s²?|/h)?)?",
    re.IGNORECASE,
)
SORTED = frozenset({"working", "business"})
"""Days that are not any days: two working days are two days, but not the other way round."""
EVERY = re.compile(
    r"\b(?:an?|per|every|each|one)\s(?P<unit>second|minute|hour|day|week|month|quarter|year)\b"
    r"|\b(?P<adverb>daily|weekly|monthly|quarterly|yearly|annually|hourly)\b",
    re.IGNORECASE,
)
ADVERBS = {"daily": "day", "weekly": "week", "monthly": "month", "quarterly": "quarter",
           "yearly": "year", "annually": "year", "hourly": "hour"}  # fmt: skip
MONTHS = "january february march april may june july august september october november december"
MONTH = rf"(?P<month{{}}>{'|'.join(MONTHS.split())})"
DATE = re.compile(
    rf"\b(?P<day1>\d{{1,2}})(?:st|nd|rd|th)?(?:\sof)?\s{MONTH.format(1)}\b"
    rf"|\b{MONTH.format(2)}\s(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\b",
    re.IGNORECASE,
)
CLOCK = re.compile(r"\b\d{1,2}:\d{2}\b")


@lru_cache(maxsize=2_048)
def quantities_in(text: str) -> frozenset[tuple[str, str]]:
    """(number, unit) for every number that has a unit we know."""
    found: set[tuple[str, str]] = set()
    for counted in COUNTED.finditer(text):
        unit = unit_named(counted["sign"] or counted["unit"] or "")
        if unit:
            numbers = [n for n in (counted["number"], counted["upto"]) if n]
            found |= {(value_of(number), unit) for number in numbers}
            if (counted["sort"] or "").lower() in SORTED:
                found |= {(value_of(number), f"working {unit}") for number in numbers}
    return frozenset(found)


@lru_cache(maxsize=2_048)
def measures_without_unit(text: str) -> frozenset[str]:
    """Numbers that stand without a unit somewhere: what they count is said before or left out."""
    dated = [found.span() for found in DATE.finditer(text)]
    dated += [found.span() for found in CLOCK.finditer(text)]
    return frozenset(
        value_of(counted["upto"] if counted["upto"] and not at_end else counted["number"])
        for counted in COUNTED.finditer(text)
        for at_end in (False, True)
        if not unit_named(counted["sign"] or counted["unit"] or "")
        and not any(begin <= counted.start() < end for begin, end in dated)
    )


@lru_cache(maxsize=2_048)
def spans_in(text: str) -> frozenset[str]:
    """Units of time without a number: `a week`, `weekly`, `every month`."""
    return frozenset(
        ADVERBS[found["adverb"].lower()] if found["adverb"] else found["unit"].lower()
        for found in EVERY.finditer(text)
    )


@lru_cache(maxsize=2_048)
def dates_in(text: str) -> frozenset[tuple[str, str]]:
    """(day, month) and (clock, "") for what stands in the text."""
    days = {
        ((found["day1"] or found["day2"]).lstrip("0"), (found["month1"] or found["month2"]).lower())
        for found in DATE.finditer(text)
    }
    return frozenset(days | {(clock.lstrip("0"), "") for clock in CLOCK.findall(text)})


def unit_named(word: str) -> str | None:
    return UNIT_OF.get(word.replace(" ", "").lower())


def value_of(number: str) -> str:
    return WORDS.get(number.lower()) or plain(number.lstrip("€$£ "))


def quantities_stand(sentence: str, evidence: str) -> bool:
    """Whether no number of the sentence changed its unit, no period its length, no date its day."""
    held = quantities_in(evidence)
    units: dict[str, set[str]] = {}
    for number, unit in held:
        units.setdefault(number, set()).add(unit)
    bare = measures_without_unit(evidence)
    measured = {unit for _, unit in held}
    for number, unit in quantities_in(sentence):
        if number in units and unit not in units[number]:
            return False
        if number not in units and number not in bare and unit in measured:
            return False  # the number stands in the evidence only as a date or a time
    if not dates_in(sentence) <= dates_in(evidence):
        return False
    named = {UNIT_OF[word] for word in words(evidence) if word in UNIT_OF}
    return spans_in(sentence) <= spans_in(evidence) | named
