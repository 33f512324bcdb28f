"""Numbers with what they count, dates and times of day, in one form however they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

NUMBER_WORDS = {
    word: value
    for value, words in enumerate(
        (
            "two zwei dos deux", "three drei tres trois", "four vier cuatro quatre",
            "five fünf cinco cinq", "six sechs seis", "seven sieben siete sept",
            "eight acht ocho huit", "nine neun nueve neuf", "ten zehn diez dix",
            "eleven elf onze", "twelve zwölf doce douze",
        ),
        start=2,
    )
    for word in words.split()
}  # fmt: skip
ORDINALS = {
    word: value
    for value, word in enumerate(
        ["third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"], start=3
    )
}
TENS = {"fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60,
        "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100, "thousand": 1_000}  # fmt: skip
MULTIPLES = {"k": 1_000.0, "thousand": 1_000.0, "million": 1e6, "m": 1e6, "billion": 1e9}
SCALES: Mapping[str, Mapping[str, float]] = {
    "time": {
        "ms millisecond milliseconds msec": 0.001,
        "s sec secs second seconds sekunden segundos secondes": 1.0,
        "min mins minute minutes minuten minutos": 60.0,
        "h hr hrs hour hours stunde stunden hora horas heure heures": 3_600.0,
        "d day days tag tage tagen día días jour jours": 86_400.0,
        "week weeks woche wochen semana semanas semaine semaines": 604_800.0,
        "month months monat monate monaten mes meses mois": 2_629_800.0,
        "quarter quarters": 7_889_400.0,
        "year years jahr jahre jahren año años année années an ans": 31_557_600.0,
    },
    "size": {
        "bit bits": 0.125, "byte bytes b": 1.0, "kb kilobyte kilobytes": 1e3, "kib": 1_024.0,
        "mb mbs megabyte megabytes": 1e6, "mib": 2.0**20, "gb gbs gigabyte gigabytes": 1e9,
        "gib": 2.0**30, "tb tbs terabyte terabytes": 1e12, "tib": 2.0**40,
    },
    "length": {"mm": 0.001, "cm": 0.01, "m metre metres meter meters": 1.0, "km": 1_000.0,
               "inch inches": 0.0254, "ft foot feet": 0.3048, "mile miles": 1_609.344},
    "mass": {"mg": 1e-6, "g gram grams": 0.001, "kg kilogram kilograms": 1.0,
             "lb lbs pounds": 0.4536},
    "speed": {"m/s": 1.0, "km/h": 1 / 3.6, "mph": 0.44704},
    "frequency": {"hz hertz": 1.0, "khz": 1e3, "mhz": 1e6, "ghz": 1e9},
    "share": {"% percent prozent percentage": 1.0},
    "angle": {"° degree degrees": 1.0, "radian radians rad": 57.29578},
    "pixel": {"px pixel pixels": 1.0},
}  # fmt: skip
UNITS = {
    name: (kind, factor)
    for kind, units in SCALES.items()
    for names, factor in units.items()
    for name in names.split()
}
CURRENCIES = {"$": "usd", "dollar": "usd", "dollars": "usd", "€": "eur", "euro": "eur",
              "euros": "eur", "£": "gbp", "¥": "jpy", "yen": "jpy", "₹": "inr", "rupees": "inr",
              "₽": "rub", "₩": "krw", "฿": "thb", "₺": "try", "₴": "uah", "zł": "pln"}  # fmt: skip
CODES = frozenset(
    {"usd", "eur", "gbp", "jpy", "inr", "rub", "krw", "thb", "uah", "pln", "chf", "cad", "aud",
     "nzd", "cny", "sek", "nok", "dkk", "czk", "huf", "brl", "mxn", "zar", "sgd", "hkd", "ils",
     "aed"}
)  # fmt: skip
AMBIGUOUS = frozenset({"second", "s", "m", "d", "b", "an", "mes", "h", "g", "tag"})
"""Units that are other words where no number stands before them."""
DIGITS = r"\d{1,3}(?:[,'’\u202f\u00a0]\d{3})+(?:\.\d+)?(?![\d,])|\d+(?:[.,]\d+)*"
WORDS = {
    f"{ten}-{one}": TENS[ten] + value
    for ten in ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
    for one, value in {"one": 1, **NUMBER_WORDS}.items()
    if value < 10
} | {**NUMBER_WORDS, **ORDINALS, **TENS}
SIGNS = "".join(re.escape(sign) for sign in CURRENCIES if not sign.isalpha())
NUMBER = re.compile(
    rf"(?:(?<![\w.])|(?<=\bv))(?P<sign>[{SIGNS}]\s?|\b(?:{'|'.join(sorted(CODES))})\s(?=\d))?"
    rf"(?P<number>{DIGITS}|\b(?:{'|'.join(WORDS)})\b)(?:st|nd|rd|th)?(?![\w]*_)"
    r"(?P<multiple>\s?(?:k|K)\b|\s?M\b(?!\w)|\s(?:thousand|million|billion)\b)?"
    r"(?:\s?(?:to|through|-|–|—|and|or|bis|a|à)\s?(?=[€$£]?\d+[\s\u00a0-]?[A-Za-z%°€]))?"
    rf"(?:[\s\u00a0-]?(?P<unit>%|°|[{SIGNS}]|(?:km/h|m/s|[^\W\d_]+)))?",
    re.IGNORECASE,
)
EVERY = re.compile(
    r"(?:\b(?:per|every|each|an?|one|pro|jede[nrs]?|por|cada|par)[\s-]|/\s?)(?P<unit>[^\W\d_]+)\b"
    r"|\b(?P<adverb>(?:hour|month|week|quarter|year)ly|daily|nightly|annual(?:ly)?|täglich|wöchentlich)\b",
    re.IGNORECASE,
)
UNIT_WORD = re.compile(r"\b[^\W\d_]+\b")
ADVERBS = {"hourly": "hour", "daily": "day", "nightly": "day", "täglich": "day", "weekly": "week",
           "wöchentlich": "week", "monthly": "month", "quarterly": "quarter", "yearly": "year",
           "annually": "year", "annual": "year"}  # fmt: skip
MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar enero janvier", "february feb februar febrero février",
            "march mar märz marzo mars", "april apr abril avril", "may mai mayo",
            "june jun juni junio juin", "july jul juli julio juillet", "august aug agosto août",
            "september sep sept septiembre septembre", "october oct oktober octubre octobre",
            "november nov noviembre novembre", "december dec dezember diciembre décembre",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
MONTH = rf"(?:{'|'.join(sorted(MONTHS, key=len, reverse=True))})"
DATE = re.compile(
    rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?(?:\sof|\sde)?\s(?P<month>{MONTH})\b\.?"
    r"(?:,?\s(?P<year>\d{4}))?"
    rf"|\b(?P<month2>{MONTH})\.?\s(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,?\s(?P<year2>\d{{4}}))?"
    rf"|\b(?P<month3>{MONTH})\.?,?\s(?P<year3>\d{{4}})\b"
    r"|\b(?P<year4>\d{4})-(?P<month4>\d{2})(?:-(?P<day4>\d{2}))?(?!\d)",
    re.IGNORECASE,
)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
WEEKDAY = re.compile(rf"\b(?:{'|'.join(WEEKDAYS)})s?\b", re.IGNORECASE)
CLOCK = re.compile(
    r"\b(?P<hour>\d{1,2})[:h.](?P<minute>\d{2})(?!\d)\s?(?P<half>[ap]\.?m\b)?"
    r"|\b(?P<hour2>\d{1,2})\s?(?P<half2>[ap]\.?m\b)",
    re.IGNORECASE,
)
HALF = re.compile(r"\bhalf an? (?P<unit>[a-z]+)", re.IGNORECASE)
ITEM_NUMBER = re.compile(r"^\s*\d{1,3}[.)]\s", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number, and what it counts: a unit with its scale, a currency, or nothing that is known."""

    values: frozenset[str]
    kind: str
    factor: float
    words: str
    is_word: bool

    def amounts(self) -> Iterator[float]:
        for value in self.values:
            try:
                yield float(value) * self.factor
            except ValueError:  # a version
                continue


@dataclass(frozen=True)
class Quantities:
    """What a text counts, measures and dates."""

    numbers: tuple[Quantity, ...]
    units: frozenset[tuple[str, float]]
    """Every unit that is named, with or without a number."""
    singles: frozenset[tuple[str, float]]
    """Units of which there is one: `a week`, `daily`."""
    dates: frozenset[tuple[int, int, int]]
    """(year, month, day), 0 where it does not say."""
    weekdays: frozenset[str]
    clocks: frozenset[str]


@lru_cache(maxsize=4_096)
def quantities_in(text: str) -> Quantities:
    """The quantities of a text, dates and times of day apart from other numbers."""
    dates = frozenset(date for found in DATE.finditer(text) if (date := date_of(found)))
    rest = DATE.sub(without_date, text)
    clocks = frozenset(clock for found in CLOCK.finditer(rest) if (clock := clock_of(found)))
    bare = HALF.sub(r"0.5 \g<unit>", ITEM_NUMBER.sub(" ", CLOCK.sub(without_clock, rest)))
    return Quantities(
        numbers=tuple(numbers_in(bare)),
        units=frozenset(units_in(bare)),
        singles=frozenset(single_units_in(bare)),
        dates=dates,
        weekdays=frozenset(day.lower().rstrip("s") for day in WEEKDAY.findall(text)),
        clocks=clocks,
    )


def numbers_in(text: str) -> Iterator[Quantity]:
    for found in NUMBER.finditer(text):
        number = found["number"].lower()
        is_word = number in WORDS
        multiple = MULTIPLES.get((found["multiple"] or "").strip().lower(), 1.0)
        values = {str(WORDS[number])} if is_word else set(values_of(number))
        if multiple != 1.0:
            values = {plain(float(value) * multiple) for value in values if is_number(value)}
        sign, unit = (found["sign"] or "").strip().lower(), (found["unit"] or "").lower()
        kind, factor = "", 1.0
        if currency := currency_of(sign) or currency_of(unit):
            kind = currency
        elif unit in UNITS:
            kind, factor = UNITS[unit]
        spoken = found.group().strip() if kind else found["number"]
        yield Quantity(frozenset(values), kind, factor, spoken, is_word)


def currency_of(name: str) -> str:
    return CURRENCIES.get(name, name if name in CODES else "")


def units_in(text: str) -> Iterator[tuple[str, float]]:
    """Units that stand without a number."""
    for word in UNIT_WORD.findall(text):
        unit = word.lower()
        if unit in UNITS and unit not in AMBIGUOUS:
            yield UNITS[unit]


def single_units_in(text: str) -> Iterator[tuple[str, float]]:
    """One of a unit: `a week`, `per minute`, `daily`."""
    for found in EVERY.finditer(text):
        name = (found["adverb"] or found["unit"]).lower()
        unit = ADVERBS.get(name, name)
        if unit in UNITS and (unit not in AMBIGUOUS or is_rate(found.group())):
            yield UNITS[unit]


def is_rate(words: str) -> bool:
    return words.lower().startswith(("per", "every", "/"))


def values_of(number: str) -> Iterator[str]:
    """What digits with separators may mean: `1,000` and `1.000` differ by country."""
    bare = re.sub(r"['’\u202f\u00a0]", "", number)
    if bare.count(".") + bare.count(",") > 1 and not re.fullmatch(
        r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3})+(?:,\d+)?", bare
    ):
        yield bare  # a version or an address
        return
    if "," in bare and "." in bare:
        decimal = max(bare.rfind(","), bare.rfind("."))
        whole = re.sub(r"[.,]", "", bare[:decimal])
        yield simple(f"{whole}.{bare[decimal + 1 :]}")
        return
    separator = "," if "," in bare else "."
    whole, found, rest = bare.partition(separator)
    if not found:
        yield simple(bare)
        return
    if re.fullmatch(rf"\d{{1,3}}(?:\{separator}\d{{3}})+", bare):
        yield simple(bare.replace(separator, ""))
    if bare.count(separator) == 1 and not (separator == "," and len(rest) == 3):
        yield simple(f"{whole}.{rest}")


def simple(number: str) -> str:
    """Without leading zeros and without a fraction of nothing; `3.10` stays apart from `3.1`."""
    whole, dot, fraction = number.partition(".")
    whole = whole.lstrip("0") or "0"
    return f"{whole}.{fraction}" if dot and fraction.strip("0") else whole


def plain(value: float) -> str:
    return f"{value:.10g}"


def is_number(value: str) -> bool:
    return re.fullmatch(r"\d+(?:\.\d+)?", value) is not None


def date_of(found: re.Match[str]) -> tuple[int, int, int] | None:
    fields = found.groupdict()
    named = fields["month"] or fields["month2"] or fields["month3"]
    if named and named.lower() == "may" and not named[0].isupper():
        return None
    day = fields["day"] or fields["day2"] or fields["day4"]
    year = fields["year"] or fields["year2"] or fields["year3"] or fields["year4"]
    month = MONTHS[named.lower()] if named else int(fields["month4"])
    is_date = 1 <= month <= 12 and int(day or 1) <= 31
    return (int(year or 0), month, int(day or 0)) if is_date else None


def without_date(found: re.Match[str]) -> str:
    return " " if date_of(found) else found.group()


def without_clock(found: re.Match[str]) -> str:
    return " " if clock_of(found) else found.group()


def clock_of(found: re.Match[str]) -> str | None:
    if ":" not in found.group() and not (found["half"] or found["half2"]):
        return None
    hour, half = (
        int(found["hour"] or found["hour2"]),
        (found["half"] or found["half2"] or "").lower(),
    )
    if half.startswith("p") and hour < 12:
        hour += 12
    if half.startswith("a") and hour == 12:
        hour = 0
    return f"{hour:02d}:{found['minute'] or '00'}"
