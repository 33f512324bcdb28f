"""Things that are known by their form: what is asked for must stand there in that form."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_core.agent.language.wordings import MONEY, SUM

TELEPHONE = re.compile(r"\b(?:tele)?phone numbers?\b|\bnumber (?:can|do|should) i call\b", re.I)
DIALLED = re.compile(r"(?:\+|\b)\d(?:[ ()/.-]?\d){4,}\b|\b(?:call|dial|ring) \d+", re.IGNORECASE)
E_MAIL = re.compile(
    r"\be-?mail address(?:es)?\b|\baddress (?:can|do|should) i (?:write|mail)\b", re.I
)
MAILBOX = re.compile(r"\S@\S|\bmailto:")

FORMS = ((MONEY, SUM), (TELEPHONE, DIALLED), (E_MAIL, MAILBOX))


def lacks_form(question: str, texts: Sequence[str]) -> bool:
    """Whether a sum of money, a telephone number or an e-mail address is asked for and none of
    the texts has one: then they may be about the matter, but do not tell it."""
    return any(
        wanted.search(question) and not any(map(form.search, texts)) for wanted, form in FORMS
    )
