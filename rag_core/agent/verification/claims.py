"""Claims of a draft, the passages that they rest on, and what was found of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

NO_QUOTES: Mapping[int, str] = MappingProxyType({})


class Support(StrEnum):
    """How the evidence stands to a claim."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    NOT_FOUND = "not_found"
    NO_CLAIM = "no_claim"
    """The sentence says nothing about its subject: it leads on, or tells what is missing."""


class ClaimKind(StrEnum):
    """What kind of text a claim is."""

    PROSE = "prose"
    ROW = "row"
    CODE = "code"
    HEADING = "heading"
    LEAD_IN = "lead_in"
    """What only leads on to a list, a table or code: a line, or a table's head."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A numbered section of the evidence, as people and models may read it."""

    rank: int
    text: str
    headings: str = ""

    @property
    def whole(self) -> str:
        return f"{self.headings}\n{self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One sentence, row or code block of a draft, without its markers."""

    text: str
    passages: Sequence[Passage]
    """The evidence that it is judged by: what it cites, else the section that backs it best."""
    evidence: Sequence[Passage] = ()
    """All evidence of the answer."""
    context: str = ""
    """What it stands under: a heading, the line that leads to its list, the head of its table."""
    question: str = ""
    finding: str = ""
    """What code misses in the passages, for a verifier that reads: it may follow from them."""
    kind: ClaimKind = ClaimKind.PROSE
    is_cited: bool = True
    is_foreign: bool = False
    """Whether the answer is written in another language than the evidence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether a claim stands, the words that back it (by rank), or why it does not stand."""

    support: Support
    quotes: Mapping[int, str] = field(default_factory=lambda: NO_QUOTES)
    reason: str = ""

    @property
    def stands(self) -> bool:
        return self.support in {Support.SUPPORTED, Support.NO_CLAIM}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What a verifier found, and the tokens that it took."""

    verdicts: Sequence[Verdict | None]
    """One for each claim, in order; None where it gave none."""
    tokens: int = 0
