"""What a question asks to be denied, and which sentences deny."""

from __future__ import annotations

import re

from rag_core.agent.checks.polarity import DENIALS
from rag_core.agent.language.sentences import asked_sentences
from rag_core.agent.language.words import NEGATED, words

ASKS_FOR = re.compile(
    r"^\W*(?:(?:and|but|so|also|in|for|at|on|of|to|from|by) )*"
    r"(?:what|which|who|whom|whose|where|when|how (?:many|much|long|often))\b",
    re.IGNORECASE,
)
CONDITION = re.compile(r",|\b(?:if|unless|because|whether|while|(?<!^)when)\b", re.IGNORECASE)
DENIED = re.compile(rf"\b(?:not|never|cannot|neither|nor|no longer)\b|{NEGATED}", re.IGNORECASE)
OPEN = re.compile(
    r"\bor (?:may |might |can |could |do |does |is |are |be |will )*not\b", re.IGNORECASE
)
"""`may or may not`: both are asked for."""
EXAMINES = re.compile(r"\bNOT\b|(?i:\bwhich (?:ones?|of (?:these|those|the following))\b)")


def asks_denied(question: str) -> bool:
    """Whether something is asked for that is not so: `What is never backed up?`

    An examiner's `Which of these is NOT …?` asks for what is left when all that is so is known."""
    if EXAMINES.search(question):
        return False
    sentences = [sentence for sentence in asked_sentences(question) if sentence.strip()]
    last = sentences[-1].strip() if sentences else ""
    if not ASKS_FOR.match(last):
        return False
    asked = OPEN.sub(" ", CONDITION.split(last, maxsplit=1)[0])
    return DENIED.search(asked) is not None


def denies(sentence: str) -> bool:
    return any(
        word in DENIALS or word == "without" or word.endswith("n't") for word in words(sentence)
    )
