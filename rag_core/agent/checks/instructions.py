"""Text in documents that speaks to the assistant instead of the reader: it is no evidence."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from rag_core.agent.language.blocks import Block, BlockKind, blocks_of
from rag_core.retrieval.results import SearchResult
from rag_core.text.visible import visible

FORMER = r"(?:all|any|previous|prior|above|earlier|preceding|the|your|these|précédentes|anteriores)"
SHAPING = (
    r"(?:start|end|begin|append|add|include|insert|integrate|embed|inject|weave|incorporate|render"
    r"|modify|scramble|rearrange|enhance|misspell|anagram|provide|use|group|replace|answer|suggest)"
)
SPEECH = r"(?:print|output|say|write|reply|respond|answer)"
ASSISTANT = r"(?:ai(?: assistants?)?|bots?|assistants?|chatbots?|language models?|llms?|gpt)"
ORDERS = (
    # to forget what was said before
    rf"\b(?:ignore|disregard|forget|override|bypass)\b (?:{FORMER}\s+){{1,3}}"
    r"(?:instructions?|rules|prompts?|documents?|guidelines|context)\b",
    r"\b(?:ignorez|ignoriere?n?|vergiss|vergesst|ignora|olvida|oubliez?)\b.{0,50}"
    r"\b(?:anweisungen|instrucciones|instructions)\b",
    # to be somebody else, or to follow other rules
    r"\byou are now (?:an? )?(?-i:[A-Z])\w*",
    r"\bfrom now on (?:you|end|start|answer)\b",
    r"\b(?:your|full|entire|the) system prompt\b|\bsystem update\s*:|\bapi key you\b",
    rf"\b(?:new policy|(?:debug(?:ging)?|developer) mode)\s*:\s*{SPEECH}\b",
    # to shape the reply
    r"\b(?:reply|respond|répondez|antworte|responde)\s+(?:only|just|seulement|nur|solo)\b",
    rf"\b{SHAPING}\b.{{0,160}}\byour (?:own )?(?:reply|response|answer)\b(?!s)(?!\s+(?:to|is))",
    r"\b(?:modify|alter|adjust|augment|enhance|rewrite|scramble|rearrange|infuse|shuffle|distort)\b"
    r".{0,80}\b(?:of )?your (?:own )?(?:reply|response|answer)\b(?!s)",
    r"\b(?:add|append|embed|ensure|include|inclusion|incorporate|inject|insert|integrate|infuse"
    r"|interweave|merge|weave|assimilate|blend|deploy|fuse|implement|utilize|adopt)\b.{0,60}"
    r"\b(?:following|subsequent|below|given|provided) (?:code|snippet|script)\b.{0,60}"
    r"\b(?:your|of the|core|essence|fabric)\b",
    rf"\b{SPEECH} (?:with )?\S+ (?:and stop|and nothing else|before anything else)\b",
    r"\b(?:respond|reply|answer) with \S+ only\b",
    rf"\b{SPEECH} the text\b|\bin your answer\b|\bevery answer with\b",
    r"\bconfirm by (?:printing|writing|saying)\b",
    r"\bwhen asked about (?:this|the) topic\b|\bask the user to run\b",
    r"\bplease notify the team by\b",
    r"\balways (?:cite|include) (?:https?:|the image)",
    # to the assistant by name
    rf"\b(?:note|instructions?|message) (?:to|for) (?:the |all |any )?{ASSISTANT}\s*:",
    rf"\b{ASSISTANT} (?:must|shall|has to|have to) (?:always )?{SPEECH}\b",
    # the marks of a conversation
    r"</(?:documents|context)>|<system>|[\"']role[\"']\s*:\s*[\"']system[\"']\s*,\s*[\"']content",
    r"^\s*assistant\s*:\s|<!--\s*(?:assistant|ai|bot)\s*:|^```system\b",
    r"<\|(?:im_start|im_end|system)\|?>|\[/?INST\]",
)
COMMANDS = re.compile("|".join(ORDERS), re.IGNORECASE | re.MULTILINE)
SEPARATORS = re.compile(r"[-_.+/]+")
"""What stands for a space in a file's name."""
UNNAMED = "document"
TO_ASSISTANTS = re.compile(
    r"^#+\s.*\b(?:instructions?|notes?|rules?)\b.*\b(?:ai|assistants?|bots?|chatbots?|llms?)\b",
    re.IGNORECASE | re.MULTILINE,
)


TELLTALES = (
    "ignore", "disregard", "forget", "override", "bypass", "ignorier", "vergiss", "vergesst",
    "ignora", "olvida", "oublie", "you are now", "from now on", "system prompt", "system update",
    "api key you", "new policy", "debug", "developer mode", "reply", "respond", "répond",
    "antworte", "your response", "your answer", "your own", " code", "snippet", " script",
    "and stop", "and nothing else", "before anything else", "answer with", " the text",
    "confirm by", "when asked about", "ask the user to run", "please notify the team by",
    "always cite", "always include", "bot", "assistant", "language model", "llm", "gpt",
    "</documents>", "</context>", "<system>", "role", "<!--", "```system", "<|", "inst]",
)  # fmt: skip
"""One of these stands in everything that the rules find: to look for them is cheap."""


AI = re.compile(r"ai(?<=\bai)s?\b")
"""The letters first, which are looked for in a fraction of the time."""


def may_give_orders(text: str) -> bool:
    lower = text.lower()
    return any(map(lower.__contains__, TELLTALES)) or bool(AI.search(lower))


@lru_cache(maxsize=2_048)
def for_readers(text: str) -> str:
    """A document's text without what gives orders to the assistant; the rest is as it was."""
    if not may_give_orders(text):
        return text
    if not COMMANDS.search(text) and not TO_ASSISTANTS.search(text):
        return text
    kept: list[str] = []
    skips_section = False
    for block in blocks_of(text):
        if block.kind is BlockKind.HEADING:
            skips_section = TO_ASSISTANTS.search(block.text) is not None
        if not skips_section and not gives_orders(block):
            kept.append(block.text)
    return "".join(kept)


def gives_orders(block: Block) -> bool:
    return COMMANDS.search(block.text) is not None


@lru_cache(maxsize=2_048)
def label(text: str) -> str:
    """A title, heading or file name as a reader may see it; empty where it gives orders."""
    plain = " ".join(visible(text).split())
    spoken = SEPARATORS.sub(" ", plain)
    if any(
        rule.search(form) for rule in (COMMANDS, TO_ASSISTANTS) for form in (f"# {plain}", spoken)
    ):
        return ""
    return plain


def readable(result: SearchResult) -> SearchResult:
    """A passage whose labels give no orders either."""
    file = label(result.source_file) or UNNAMED
    title = label(result.page_title) or file
    heading, trail = label(result.section_heading), label(result.breadcrumb)
    held = (result.page_title, result.section_heading, result.source_file, result.breadcrumb)
    if held == (title, heading, file, trail):
        return result
    return replace(
        result, page_title=title, section_heading=heading, source_file=file, breadcrumb=trail
    )
