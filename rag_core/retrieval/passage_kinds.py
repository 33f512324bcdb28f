"""What kind of text a passage is, where it asks, announces or lists and does not explain."""

from __future__ import annotations

import re
from collections.abc import Sequence

TEXT = "text"
"""What most passages are, and all of an index that was built before passages had kinds."""
OF_ONE_SECTION = frozenset({"contents", "links"})
"""Kinds that say nothing of the sections below the heading."""
LONGEST_BOX = 150
"""Words of a passage that is nothing but the box it begins with."""
WEIGHT = 0.95
"""What is left of the score of a passage of another kind, unless the question asks for such
passages. docs/retrieval.md tells how it was chosen."""
AI = (
    r"(?:your |an? )?(?:ai(?: (?:assistant|tool|companion|partner|tutor))?"
    r"|chatgpt|claude|gemini|copilot)"
)
WILL = r"(?:you(?:['’]?ll| will)|we(?:['’]?ll| will))"
UNIT = r"(?:lesson|chapter|module|course|session|section|page|book)"
LEARNING = rf"(?:key |main )?(?:learning|{UNIT})"
EXTRA = r"(?:further|additional|more|recommended|related|suggested|supplementary|extra)"
HEADINGS = {
    "exercise": (
        r"(?:optional |practical |hands-on |independent |coding |final |your |mini[- ])*"
        r"(?:exercises?|quiz(?:zes)?|assignments?|challenge|homework|practice|your turn|rubric)",
        r"self[- ](?:check|test|assessment)|(?:knowledge|concept) check|problem sets?",
        rf"(?:{UNIT} [\d.]+ )?mastery gate|reflect(?:ion)?|capstone challenge",
        r"(?:test|check) (?:your|yourself)(?: (?:knowledge|understanding|progress|learning))?",
        r"(?:review|practice|quiz|study|discussion|reflection) (?:questions?|problems?|tasks?)",
        r"(?:pre|post)[- ]?(?:lecture|lesson|reading|class|course) (?:quiz|test|exercise)",
    ),
    "prompt": (
        rf"(?:try|practice|explore|learn|work|chat|discuss|go deeper)(?: it)? with {AI}|ask {AI}",
        r"(?:ai |example |sample |suggested |starter |chatgpt |copilot )+prompts?",
        r"prompts? (?:set|to try|for .{2,20})|prompt ?\d+",
    ),
    "objectives": (
        rf"{LEARNING} (?:objectives?|outcomes?|goals?)(?: .{{0,30}})?",
        rf"what {WILL} (?:learn|be able to do|cover|build|need to learn)(?: .{{0,40}})?",
        rf"(?:skills|concepts|topics) (?:{WILL} (?:learn|gain)|covered)|by the end of .{{0,40}}",
    ),
    "setup": (
        r"(?:for |notes? (?:for|to) )?(?:the )?(?:instructors?|teachers?|educators?|trainers?)"
        r"(?: (?:notes?|guide|only|setup))?",
        r"(?:teaching|facilitat(?:or|ion)) (?:notes?|tips)",
    ),
    "announcement": (
        r"(?:latest |recent |project |community )*(?:announcements?|news)|upcoming events?",
        r"(?:what['’]?s new|release notes?|change ?log)(?: (?:in|for|of|v?\d).{0,40})?",
        r"(?:revision|version|release) history",
    ),
    "contents": (
        rf"(?:table of )?contents|toc|{UNIT} (?:contents|outline|overview)|on this page",
        rf"in this (?:{UNIT}|guide|article|document|tutorial|unit|topic|part|series)",
    ),
}
"""Headings, without their marks and numbers, by what stands below them."""
LISTS = {
    "contents": (r"chapters|lessons|modules|outline|syllabus|(?:chapter |lesson )?navigation",),
    "links": (
        rf"{EXTRA} (?:readings?|resources?|information|info|links?|topics?|articles?|pages)",
        rf"{EXTRA} (?:documentation|docs|material|content)",
        r"(?:useful |external |helpful |quick )?links",
        r"see also|next steps?|what['’]?s next|where to go (?:next|from here)",
        r"(?:learn|read) more",
        r"resources|references|bibliography|review (?:&|and|\+) self[- ]study",
        r"credits?|acknowledge?ments?|contributors|authors",
    ),
}
"""The same for what is only a list of links: where more stands below, it is text."""
LISTED = 0.5
"""Share of the lines of a list of links that have one."""
ASKED = {
    "exercise": (
        r"exercis|quiz|assignment|homework|challenge|practi[cs]|rubric|\btasks?\b|submit"
        r"|grad(?:ed|ing)"
    ),
    "prompt": r"\bprompts?\b|\bai\b|chatgpt|claude",
    "objectives": (
        r"objective|outcome|\bgoals?\b|\blearn(?:t|ed)?\b|taught|able to do|\bcover(?:s|ed)?\b"
    ),
    "setup": r"instructor|teach|educator|trainer",
    "announcement": r"\bnews?\b|chang|releas|version|announc|updat|event|latest|upcoming",
    "contents": (
        r"chapter|lesson|module|contents|outline|syllabus|overview|\bcover(?:s|ed)?\b|topic"
    ),
    "links": (
        r"resource|\blinks?\b|\bread|reference|credit|author|who (?:wrote|made)|\bmore\b|\bnext\b"
        r"|related|contribut"
    ),
}
"""What a question says that asks for passages of a kind."""


def any_of(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join(patterns)})[:.!?]*", re.IGNORECASE)


BY_HEADING = {kind: any_of(patterns) for kind, patterns in HEADINGS.items()}
BY_LIST = {kind: any_of(patterns) for kind, patterns in LISTS.items()}
BY_QUESTION = {kind: re.compile(words, re.IGNORECASE) for kind, words in ASKED.items()}
MARKS = re.compile(r"[^\w\s'’&+/?:.!-]|_")
NUMBER = re.compile(
    r"(?:(?:step|part|section|chapter|lesson|module|unit)\s+)?[\d.]+[\s:.)-]+", re.IGNORECASE
)
NUMBERED = re.compile(
    r"(exercise|quiz|assignment|challenge|homework|prompt)s?\b[ \d.]*\s*[:–—-]", re.IGNORECASE
)
"""`Exercise 3: Move the arm`."""
DATED = re.compile(r"log|notes|new|history", re.IGNORECASE)
"""In the title of a page of news. A page `Announcements` tells how to make them as often."""
LEAD = re.compile(r"\A\s*(?:\*\*|__)([^*_\n]{3,60}?)(?:\*\*|__):?")
"""The first words of a passage in bold: the title of a box."""
BOXES = {
    "instructor": "setup", "objectives": "objectives", "challenge": "exercise",
    "exercise": "exercise",
}  # fmt: skip


def kind_of(title: str, headings: Sequence[str], text: str = "") -> str:
    """A passage's kind: what the nearest of the headings says that it stands under, else the title
    of its page, else that of the box which it is."""
    path = [title, *headings]
    for depth, heading in reversed(list(enumerate(path))):
        kind = kind_by_heading(heading, text)
        is_own = depth == len(path) - 1
        is_rule = depth == 0 and kind == "announcement" and not DATED.search(heading)
        if kind and (is_own or kind not in OF_ONE_SECTION) and not is_rule:
            return kind
    lead = LEAD.match(text) if len(text.split()) <= LONGEST_BOX else None
    return BOXES.get(lead[1].strip(" :").lower(), TEXT) if lead else TEXT


def kind_by_heading(heading: str, text: str) -> str | None:
    """The kind of what stands under a heading, where its words say one."""
    words = " ".join(MARKS.sub(" ", heading).split())
    if numbered := NUMBERED.match(words):
        return "prompt" if numbered[1].lower() == "prompt" else "exercise"
    bare = words[found.end() :] if (found := NUMBER.match(words)) else words
    for kind, pattern in BY_HEADING.items():
        if pattern.fullmatch(bare) or pattern.fullmatch(words):
            return kind
    for kind, pattern in BY_LIST.items():
        if pattern.fullmatch(bare):
            return kind if is_list_of_links(text) else None
    return None


def is_list_of_links(text: str) -> bool:
    """Whether there is little else than links."""
    lines = [line for line in text.splitlines() if line.strip()]
    linked = sum("](" in line or "http" in line for line in lines)
    return linked >= LISTED * max(1, len(lines))


def kinds_asked_for(question: str) -> frozenset[str]:
    """The kinds that a question speaks of."""
    return frozenset(kind for kind, words in BY_QUESTION.items() if words.search(question))
