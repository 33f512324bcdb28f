"""A question as confidence is judged by: as it was asked, as it was understood, and its thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_core.agent.language.spelling import corrected
from rag_core.agent.parts import parts_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry:
    """What is asked of the passages."""

    text: str
    understood: str = ""
    """The follow-up so that it stands alone; empty: it did so from the start."""
    said: tuple[str, ...] = ()
    """What was said in the thread before, by anybody."""

    def spelt_as(self, texts: Sequence[str]) -> Inquiry:
        """The same with misspelt words as these texts write them."""
        text, understood = (corrected(one, texts) for one in (self.text, self.understood))
        return replace(self, text=text, understood=understood)

    def apart(self) -> tuple[Inquiry, ...]:
        """Each of the things that are asked at once: one that is answered is reason to answer."""
        parts = parts_of(self.text)
        if len(parts) == 1:
            return (self,)
        return tuple(replace(self, text=part.whole, understood="") for part in parts)

    @property
    def forms(self) -> tuple[str, ...]:
        """The question in its own words, and with what it leans on."""
        return tuple(dict.fromkeys((self.text, self.understood or self.text)))
