"""What kind of text a passage is, where it asks, announces or lists and does not explain."""

from __future__ import annotations

import re
from collections.abc import Sequence

TEXT = "text"
"""What most passages are, and all of an index that was built before passages had kinds."""
HEADINGS = {
    "exercise": (
        r"(?:optional |practice |practical |hands-on |independent |coding |final |your |mini[- ])*"
        r"(?:exercises?|quiz(?:zes)?|assignments?|challenges?|homework|practice|your turn"
        r"|self[- ](?:check|test|assessment)|knowledge check|concept check|rubric"
        r"|(?:test|check) (?:your|yourself|my|for) ?(?:knowledge|understanding|progress|learning)?"
        r"|(?:review|check|practice|quiz|study|discussion|reflection) (?:questions?|problems?|tasks?)"
        r"|try it (?:yourself|out yourself)|mastery gate|capstone challenge|problem sets?|reflection|reflect)"
        r"|(?:pre|post)[- ]?(?:lecture|lesson|reading|class|course) (?:quiz|test|exercise)"
    ),
    "prompt": (
        r"(?:try|practice|explore|learn|work|ask|chat|discuss|go deeper|ai)[- ](?:with|to)?[- ]?"
        r"(?:your |an? )?(?:ai(?: (?:assistant|tool|companion|partner|tutor))?|chatgpt|claude|gemini|copilot|llm)"
        r"|(?:ai |example |sample |suggested |starter |chatgpt |copilot )+prompts?|prompts? (?:set|to try|for (?:ai|chatgpt|claude))"
        r"|prompts? ?\d*|ask (?:an? |your )?ai"
    ),
    "objectives": (
        r"(?:(?:key |main )?(?:learning|lesson|chapter|module|course|session|skill) )?(?:objectives?|outcomes?|goals?)"
        r"|(?:key |main )?(?:learning|lesson|chapter|module) (?:objectives|outcomes|goals)(?: .{0,30})?"
        r"|what (?:you(?:['’]?ll| will)|we(?:['’]?ll| will)|to) (?:learn|be able to do|cover|build|need to learn)(?: .{0,40})?"
        r"|(?:skills|concepts|topics) (?:you(?:['’]?ll| will) (?:learn|gain)|covered)|by the end of .{0,40}"
    ),
    "setup": (
        r"(?:for |notes? (?:for|to) )?(?:the )?(?:instructors?|teachers?|educators?|trainers?)(?: (?:notes?|guide|only|setup))?"
        r"|(?:teaching|facilitat(?:or|ion)) (?:notes?|tips)"
    ),
    "announcement": (
        r"(?:latest |recent |release |project |community )*(?:announcements?|news|newsletter|updates)"
        r"|what['’]?s new(?: .{0,40})?|release notes?(?: .{0,40})?|change ?log(?: .{0,40})?|(?:revision|version|release) history"
        r"|upcoming events?"
    ),
    "contents": (
        r"(?:table of )?contents|toc|(?:page |chapter |course |book |module |lesson |section )(?:contents|outline|overview|index)"
        r"|in this (?:chapter|section|module|lesson|guide|article|page|document|tutorial|unit|topic|part|series)s?"
        r"|on this page|(?:chapters|lessons|modules|outline|syllabus)|chapter navigation|lesson navigation|navigation"
    ),
    "links": (
        r"(?:further|additional|more|recommended|related|suggested|supplementary|extra)[- ]"
        r"(?:readings?|resources?|information|links?|topics?|articles?|documentation|docs|pages|content|material|info)"
        r"|see also|next steps?|what['’]?s next|where to go (?:next|from here)|what (?:comes )?next\??|learn more|read more"
        r"|(?:useful |external |helpful |quick )?(?:resources|links|references|bibliography)"
        r"|review (?:&|and|\+) self[- ]study|credits?|acknowledge?ments?|contributors|authors"
    ),
}
"""Headings, without their marks and numbers, by what stands below them."""
PATTERNS = {
    kind: re.compile(rf"(?:{words})[:.!?]*", re.IGNORECASE) for kind, words in HEADINGS.items()
}
MARKS = re.compile(r"[^\w\s'’&+/?:.!-]|_", re.UNICODE)
NUMBER = re.compile(
    r"^(?:(?:step|part|section|chapter|lesson|module|unit)\s+)?[\d.]+[\s:.)-]+\s*", re.IGNORECASE
)
BEFORE_COLON = re.compile(
    r"^(exercise|quiz|assignment|challenge|homework|practice|prompt)s?\b[ \d.]*\s*[:–—-]",
    re.IGNORECASE,
)
"""`Exercise 3: Move the arm`."""
LOG = re.compile(r"log|notes|new", re.IGNORECASE)
"""Of a whole page that is called `Announcements`, more often than not, the rules for them are the subject."""
LEAD = re.compile(r"\A\s*(?:#{1,6}[ \t]+[^\n]*\n+)?(?:\*\*|__)([^*_\n]{3,60}?)(?:\*\*|__):?")
"""The first words of a passage in bold: the title of a box."""
BOXES = {
    "instructor": "setup", "instructor note": "setup", "objectives": "objectives",
    "challenge": "exercise", "exercise": "exercise",
}  # fmt: skip


ASKED = {
    "exercise": r"exercis|quiz|assignment|homework|challenge|practi[cs]|rubric|\btasks?\b|hand in|submit|grad(?:ed|ing)",
    "prompt": r"\bprompts?\b|\bask (?:the |an )?(?:ai|chatgpt|claude)|\bai\b|chatgpt|claude",
    "objectives": r"objectives?|outcomes?|\bgoals?\b|\blearn(?:t|ed)?\b|taught|able to do|\bcovers?\b|covered",
    "setup": r"instructor|teacher|educator|trainer|teach",
    "announcement": r"\bnews|\bnew\b|chang|releas|version|announc|updat|event|latest|upcoming",
    "contents": r"chapters?|lessons?|modules?|contents|outline|syllabus|overview|\bcovers?\b|covered|topics?|structure",
    "links": r"resource|\blinks?\b|\bread|reference|credit|author|who (?:wrote|made)|learn more|\bnext\b|related|contribut",
}
"""What a question says that asks for passages of a kind."""
ASKS = {kind: re.compile(words, re.IGNORECASE) for kind, words in ASKED.items()}
WEIGHT = 0.95
"""What is left of the score of a passage that tells nothing itself, unless the question asks for
such passages. docs/retrieval.md tells how it was chosen."""


def kinds_asked_for(question: str) -> frozenset[str]:
    """The kinds that a question speaks of."""
    return frozenset(kind for kind, words in ASKS.items() if words.search(question))


def kind_of(title: str, headings: Sequence[str], text: str = "") -> str:
    """A passage's kind, by the nearest of the headings that it stands under and says one, else by
    its page's title."""
    for heading in reversed(headings):
        if kind := kind_by_heading(heading):
            return kind
    by_title = kind_by_heading(title)
    if by_title and (by_title != "announcement" or LOG.search(title)):
        return by_title
    lead = LEAD.match(text)
    return BOXES.get(lead[1].strip(" :").lower(), TEXT) if lead else TEXT


def kind_by_heading(heading: str) -> str | None:
    """The kind of what stands under a heading, where its words say one."""
    if found := BEFORE_COLON.match(MARKS.sub("", heading).strip()):
        return "prompt" if found[1].lower() == "prompt" else "exercise"
    words = NUMBER.sub("", " ".join(MARKS.sub(" ", heading).split())).strip()
    return next((kind for kind, pattern in PATTERNS.items() if pattern.fullmatch(words)), None)
