"""A question without the greeting before it and the thanks behind it."""

from __future__ import annotations

import re

from rag_core.agent.language.sentences import asked_sentences
from rag_core.agent.language.words import content
from rag_core.agent.smalltalk import GREETING

HELLO = re.compile(
    rf"\W*(?:(?:{GREETING.pattern})\b|(?:just )?(?:a |one )?(?:quick |short |small )?question"
    r"|(?:i have|i've got) an? (?:quick |short |small )?question)\s*[,:;!.–—-]+\s*",
    re.IGNORECASE,
)
"""With the mark that parts it from what follows: `Hello world program` is none."""
SIGN_OFF = re.compile(
    r"(?!.*\?)\W*(?:(?:many |kind |best |warm )?(?:thanks|thank you|thx|regards|cheers|greetings)"
    r"|danke(?:sch[öo]n)?|vielen dank|gracias|merci|(?:please|pls) help|help please"
    r"|any help (?:is|would be) (?:much |greatly )?(?:appreciated|welcome|great))"
    r"(?:[\s,!.–—-]+[^\s?]+){0,5}\W*",
    re.IGNORECASE,
)


def without_courtesies(message: str) -> str:
    """What is asked; a message that is nothing but polite stays as it is."""
    asked = message
    while hello := HELLO.match(asked):
        asked = asked[hello.end() :]
    sentences = list(asked_sentences(asked))
    while sentences and SIGN_OFF.fullmatch(sentences[-1].strip()):
        sentences.pop()
    asked = "".join(sentences).strip()
    return asked if content(asked) else message
