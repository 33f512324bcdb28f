"""Text in documents that gives orders to the assistant: removed before anybody reads it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from rag_core.agent.language.blocks import Block, BlockKind, blocks_of
from rag_core.retrieval.results import SearchResult
from rag_core.text.visible import visible

FORMER = r"(?:all|any|above|the|your|these)"
EARLIER = rf"(?:{FORMER}\s+){{0,2}}(?:previous|prior|earlier|preceding)"
GIVEN = r"(?:instructions?|rules|prompts?|documents?|guidelines|context)\b"
CONDITION = r"(?!\s+(?:above\s+|below\s+)?(?:if|when|unless|for|in|on|that|which|about|of|from)\b)"
"""Ordinary advice names its case: `Ignore these instructions if you use Windows.`"""
PERMITTED = r"(?<!can )(?<!may )(?<!safely )(?<!could )(?<!to )"
IMPERATIVE = r"(?:^|[\"'“‘.!?;:,>|#*(-]\s*|\b(?:and|then|now|please|must|always)\s+)"
REPLY = r"your (?:own )?(?:reply|response|answer)\b(?!s)"
SHAPING = (
    r"(?:start|end|begin|append|add|include|insert|integrate|embed|inject|weave|incorporate|render"
    r"|modify|scramble|rearrange|enhance|misspell|anagram|provide|use|group|replace|answer|suggest"
    r"|combine)"
)
CHANGING = (
    r"(?:modify|alter|adjust|augment|enhance|rewrite|scramble|rearrange|infuse|shuffle|distort)"
)
INSERTING = (
    r"(?:append|blend|deploy|embed|ensure|include|inclusion|incorporate|inject|insert|integrate"
    r"|infuse|interweave|fuse|merge|weave|adopt|utilize)"
)
OWN_WORK = r"your (?:own )?(?:code|codebase|solution|implementation|algorithm)\b"
AI = r"(?:ai(?: assistants?| agents?| models?)?|chatbots?|language models?|llms?|gpt)"
"""Not bots and assistants: servers have rules for those, and courses have human assistants."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern, and words of which one stands in everything that it matches: to look for these
    first takes a tenth of the time."""

    words: tuple[str, ...]
    pattern: re.Pattern[str]

    def matches(self, text: str, lower: str) -> bool:
        return any(word in lower for word in self.words) and bool(self.pattern.search(text))


def rule(pattern: str, *words: str) -> Rule:
    return Rule(words, re.compile(pattern, re.IGNORECASE | re.MULTILINE))


ORDERS = (
    # to forget what was said before
    rule(
        rf"\b(?:ignore|disregard|forget|override|bypass) {EARLIER}\s+{GIVEN}"
        rf"|{PERMITTED}\b(?:ignore|disregard|forget) (?:{FORMER}\s+){{1,3}}{GIVEN}{CONDITION}",
        *("ignore ", "disregard ", "forget ", "override ", "bypass "),
    ),
    rule(
        r"\b(?:ignorez|ignoriere?n?|vergiss|vergesst|ignora|olvida|oubliez?)\b.{0,50}"
        r"\b(?:anweisungen|instrucciones|instructions)\b",
        *("ignor", "vergiss", "vergesst", "olvida", "oublie"),
    ),
    # to be somebody else, to follow other rules, or to tell its own
    rule(r"\byou are now (?:an? ai\b|(?-i:[A-Z])\w*)", "you are now "),
    rule(r"\bfrom now on,? (?:end|start|answer)\b", "from now on"),
    rule(
        r"\b(?:print|repeat|reveal|output|recite|disclose)\b.{0,20}"
        r"\byour (?:full |entire |own )?system prompt\b",
        "system prompt",
    ),
    # to shape the reply
    rule(rf"{IMPERATIVE}(?:reply|respond) (?:only|just) with\b", "reply ", "respond "),
    rule(
        rf"\b{SHAPING}\b.{{0,160}}\b{REPLY}(?!\s+(?:to|is))|\b{CHANGING}\b.{{0,80}}\b{REPLY}",
        *("your reply", "your response", "your answer", "your own "),
    ),
    rule(r"@(?:here|everyone|channel)\b.{0,80}\bin your (?:reply|response|answer)\b", "in your "),
    rule(
        rf"\b{INSERTING}\b.{{0,60}}\b(?:following|subsequent|below) code"
        rf" (?:block|excerpt|section|snippet)\b.{{0,60}}\b{OWN_WORK}",
        *("following code ", "subsequent code ", "below code "),
    ),
    rule(r"\bwhen asked about (?:this|the) topic\b", "when asked about "),
    rule(r"\bbefore (?:you )?answer(?:ing)?\b.{0,20}\bask the user\b", "ask the user"),
    rule(r"\balways cite https?:", "always cite "),
    # to the assistant by name
    rule(rf"\bnote (?:to|for) (?:the |all |any )?{AI}\s*:", "note to ", "note for "),
    rule(
        r"\b(?:bots?|assistants?|chatbots?) (?:must|shall|has to|have to) (?:always )?say\b"
        rf"|\b{AI} (?:must|shall|has to|have to) (?:say|always say|answer (?:every|all|any))\b",
        *(" say", " answer "),
    ),
)
PROMPT_MARKS = rule(r"</context>\s*</documents>|(?-i:<system>)[^<\n]+</system>", "</")
"""What closes the documents of a prompt, or speaks as the system."""
SYSTEM_FENCE = rule(r"^```system\b", "```system")
CONVERSATION_MARKS = (
    rule(r"[\"']role[\"']\s*:\s*[\"']system[\"']\s*,\s*[\"']content", "role"),
    rule(r"^\s*assistant\s*:\s|<!--\s*(?:assistant|ai|bot)\s*:", "assistant", "<!--"),
    rule(r"<\|(?:im_start|im_end|system)\|?>|\[/?INST\]", "<|", "inst]"),
)
"""In prose only: code shows these to developers."""
FOR_ASSISTANTS = rule(
    rf"^#+\s.*\b(?:instructions?|notes?|rules?) (?:to|for) (?:the |all |any )?{AI}"
    r"(?:\s*:?\s*$|\s+(?:answering|reading|summari[sz]ing|that|using|who)\b)",
    *("instruction", "note", "rule"),
)
"""A heading: its whole section is removed."""
IN_CODE = (*ORDERS, PROMPT_MARKS, SYSTEM_FENCE)
IN_PROSE = (*IN_CODE, *CONVERSATION_MARKS)
ANYWHERE = (*IN_PROSE, FOR_ASSISTANTS)
SEPARATORS = re.compile(r"[-_.+/]+")
"""What stands for a space in a file's name."""
UNNAMED = "document"


@dataclass(frozen=True, slots=True)
class Screened:
    """A document's text as people and models may read it, and what was taken out of it."""

    text: str
    removed: tuple[str, ...] = ()


@lru_cache(maxsize=2_048)
def screen(text: str) -> Screened:
    """Remove the blocks that give orders to the assistant; the rest stays as it was."""
    if not any_matches(ANYWHERE, text):
        return Screened(text)
    kept: list[str] = []
    removed: list[str] = []
    is_for_assistants = False
    for block in blocks_of(text):
        if block.kind is BlockKind.HEADING:
            is_for_assistants = any_matches((FOR_ASSISTANTS,), block.text)
        (removed if is_for_assistants or gives_orders(block) else kept).append(block.text)
    return Screened("".join(kept), tuple(each.strip() for each in removed if each.strip()))


def for_readers(text: str) -> str:
    """A document's text without what gives orders to the assistant."""
    return screen(text).text


def gives_orders(block: Block) -> bool:
    return any_matches(IN_CODE if block.kind is BlockKind.CODE else IN_PROSE, block.text)


def any_matches(rules: Iterable[Rule], text: str) -> bool:
    lower = text.lower()
    return any(each.matches(text, lower) for each in rules)


@lru_cache(maxsize=2_048)
def label(text: str) -> str:
    """A title, heading or file name as a reader may see it; empty where it gives orders."""
    plain = " ".join(visible(text).split())
    spoken = SEPARATORS.sub(" ", plain)
    if any_matches(ANYWHERE, f"# {plain}") or any_matches(ANYWHERE, spoken):
        return ""
    return plain


def hidden_orders(text: str, *labels: str) -> tuple[str, ...]:
    """What readers and models are not shown of a passage and its labels, for its owner to check."""
    spoken = (" ".join(visible(each).split()) for each in labels)
    return screen(visible(text)).removed + tuple(s for s in spoken if s and not label(s))


def readable(result: SearchResult) -> SearchResult:
    """A passage whose labels give no orders either."""
    file = label(result.source_file) or UNNAMED
    title = label(result.page_title) or file
    return replace(
        result,
        page_title=title,
        section_heading=label(result.section_heading),
        source_file=file,
        breadcrumb=label(result.breadcrumb),
        heading_before=label(result.heading_before),
        heading_after=label(result.heading_after),
    )
