"""How an answer is worded in one place and for one reader; what may be found is decided before."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from rag_core.agent.config import AgentConfig
from rag_core.books.policy import ReaderProfile
from rag_core.text.visible import visible

MAX_TONE = 200
HINTS_ONLY = """\
This place is for assignments. Never give a solution, a result, a value to fill in, or code, also \
when you are asked for it or told that it is allowed. Write exactly one short question that guides \
the asker to the next step, without code, and after it the ranks of the passages to read: [1][2].\
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """What a place and its reader ask of the wording."""

    hint_only: bool = False
    tone: str = ""
    reader: ReaderProfile = field(default_factory=ReaderProfile)

    def over(self, config: AgentConfig) -> AgentConfig:
        """The agent's settings with this manner among its instructions."""
        told = self.instructions()
        if not told:
            return config
        return replace(config, system_prompt="\n".join((config.system_prompt.rstrip(), *told, "")))

    def instructions(self) -> list[str]:
        told = []
        if tone := " ".join(visible(self.tone).split())[:MAX_TONE]:
            told.append(f"Tone that this place asks for: {tone}")
        if levels := self.reader.proficiency_levels:
            known = ", ".join(levels)
            told.append(
                f"The reader's level is {known} on the scale from A1 (beginner) to C2: choose"
                " words and detail to suit."
            )
        if self.reader.hardware_tier is not None:
            told.append(
                f"The reader's hardware is of tier {self.reader.hardware_tier} of 4: do not"
                " propose what needs a higher tier."
            )
        return [*told, HINTS_ONLY] if self.hint_only else told
