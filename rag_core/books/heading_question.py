"""Section headings as questions, where they make natural ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import IntEnum

from rag_core.agent.language.languages import language_of

MAX_WORDS = 9
MAX_LENGTH = 120
AUXILIARIES = "can cannot could do does did is are was were may might must shall should will would"
ASKS = r"(?P<ask>what|how|where|when|who|why|which)"
AUXILIARY = f"(?P<auxiliary>{AUXILIARIES.replace(' ', '|')})"
POINTERS = "it its this that these those they them here there he she his her"
UNCLEAR = frozenset(POINTERS.split())
"""They point at words before the heading, which nobody sees who sees the question alone."""
COMMONPLACE = re.compile(
    r"(what('s| is) (new|next)|what (you|we|you'll|you will) learn.*|what you will learn.*"
    r"|the (basics|goal|goals|end|rest|big picture)|next steps|learning (goals|objectives)"
    r"|key (points|takeaways|terms)|further reading|.* (resources|links|notes|exercises))"
)
"""Headings that every second document has: a question about them asks for nothing."""
ORDERS = """
    add allow apply ask avoid back build call change check choose clean close configure connect
    copy create customise customize define delete deploy design develop disable discover download
    edit enable explore export find fix generate get give handle import improve install join keep
    learn let list load log make manage measure meet merge monitor move open order organise organize
    pick plan prepare print protect publish push read register release remove rename replace report
    request reset restart restore review run save say schedule search secure see select send set
    share show sign start stop store submit switch take tell test train try turn update upgrade
    upload use verify view write"""
VERBS = frozenset(ORDERS.split())
"""Words that a heading which tells somebody to do something may begin with."""
NUMBERS = "two|three|four|five|six|seven|eight|nine|ten"
COUNTING = rf"\b({NUMBERS}|one|first|second|third|last|next|other|more|all|some|common)\b"


class Kind(IntEnum):
    """How natural a question is that was made of a heading; the first is the best."""

    ASKED = 1
    TURNED = 2
    MADE = 3


def question_of(heading: str, passage: str) -> tuple[Kind, str] | None:
    """The question that a heading asks or stands for, in the language of its passage."""
    plain = re.sub(r"[`*_]|^[\d.]+\s+|:$|, page \d+$", "", heading).strip()
    if plain.endswith("?"):
        clear = len(plain.split()) > 2 and len(plain) <= MAX_LENGTH
        return (Kind.ASKED, plain) if clear else None
    words = plain.lower().split()
    if not 2 <= len(words) <= MAX_WORDS or UNCLEAR & set(words) or re.search(r"[/:;!()]", plain):
        return None
    if COMMONPLACE.fullmatch(plain.lower()) or language_of(f"{plain} {passage}") != "en":
        return None
    made = next((made for shape in SHAPES if (made := shape(uncapitalised(plain)))), None)
    return (made[0], as_sentence(made[1])) if made else None


def turned(heading: str) -> tuple[Kind, str] | None:
    """Such as “What the robot can do”, “Who may do what”."""
    found = re.fullmatch(f"{ASKS}(?: (?P<subject>.+?))?? {AUXILIARY} (?P<rest>.+)", heading)
    if found is None or found["ask"] == "when":
        return None
    auxiliary = found["auxiliary"].replace("cannot", "can't")
    if found["subject"] == "you" and auxiliary in {"are", "were"}:
        auxiliary = {"are": "am", "were": "was"}[auxiliary]
    subject = found["subject"] or ""
    return Kind.TURNED, f"{found['ask']} {auxiliary} {subject} {found['rest']}"


def supported(heading: str) -> tuple[Kind, str] | None:
    """Such as “How to ask for help”, “How we release a version”."""
    found = re.fullmatch(
        r"(?P<ask>what|how|where|who) (?:to|(?P<who>you|we)) (?P<rest>\w+ .+)", heading
    )
    if found is None:
        return None
    return Kind.TURNED, f"{found['ask']} do {found['who'] or 'you'} {found['rest']}"


def occasion(heading: str) -> tuple[Kind, str] | None:
    """Such as “When you need help”."""
    if not re.match(r"(when|if) (?!to )\w+ \w+", heading):
        return None
    return Kind.TURNED, f"what should you do {heading}"


def order(heading: str) -> tuple[Kind, str] | None:
    """Such as “Start the simulator”."""
    if not re.fullmatch(r"[a-z]+ (?:a|an|the|your|our|new) .+", heading):
        return None
    return (Kind.MADE, f"how do you {heading}") if heading.split()[0] in VERBS else None


def activity(heading: str) -> tuple[Kind, str] | None:
    """Such as “Calibrating the cameras”."""
    if not re.fullmatch(r"[a-z]{2,}(?<!th)ing (?:a|an|the|your|our) .+", heading):
        return None
    return Kind.MADE, f"how does {heading} work"


def thing(heading: str) -> tuple[Kind, str] | None:
    """Such as “The danger zone”, “Three ways to stop”."""
    if re.match(f"({NUMBERS}) [a-z]+s( |$)", heading):
        return Kind.MADE, f"what are the {heading}"
    if not re.fullmatch(r"the( [\w'’-]+){1,5}", heading):
        return None
    first = re.split(r" (?:of|for|to|in|on|with|from|and) ", heading)[0]
    number = re.match(f"the ({NUMBERS}) ", heading)
    plural = number or (first.endswith("s") and not first.endswith(("ss", "us", "is")))
    return Kind.MADE, f"what {'are' if plural else 'is'} {heading}"


def things(heading: str) -> tuple[Kind, str] | None:
    """Such as “Company cards”."""
    if re.search(COUNTING, heading):
        return None
    plural = heading.endswith("s") and not heading.endswith(("ss", "us", "is"))
    if not plural or not re.fullmatch(r"[a-z-]+(?: [a-z-]+){1,2}", heading):
        return None
    return (Kind.MADE, f"how do {heading} work") if heading.split()[0] not in VERBS else None


SHAPES: tuple[Callable[[str], tuple[Kind, str] | None], ...] = (
    turned,
    supported,
    occasion,
    order,
    activity,
    thing,
    things,
)


def as_sentence(question: str) -> str:
    """One asks for oneself: "you" becomes "I"."""
    for pattern, word in ((r"\byou\b", "I"), (r"\byour\b", "my"), (r"\byourself\b", "myself")):
        question = re.sub(pattern, word, question)
    question = re.sub(r"\bI are\b", "I am", re.sub(r"\s+", " ", question)).strip(" .")
    return f"{question[0].upper()}{question[1:]}?"


def uncapitalised(heading: str) -> str:
    """Without the capital that a heading begins with; names inside it keep theirs."""
    return heading[0].lower() + heading[1:]
