"""What holds in a place, in words; and a place's own words, told from those of a wider one."""

from __future__ import annotations

from rag_core.books.policy import ChannelPolicy, ReaderProfile

NOTHING_SAID = "nothing is set"


def in_words(policy: ChannelPolicy) -> str:
    """One sentence's worth, without its full stop."""
    said = [
        f"book {', '.join(policy.books)}" if policy.books else "",
        f"modules {', '.join(policy.modules)}" if policy.modules else "",
        switched(policy.auto_answer, "every question is answered", "only mentions are answered"),
        switched(policy.hint_only, "hints instead of solutions", "full answers"),
        f"tone “{policy.tone}”" if policy.tone else "",
        f"material out by {policy.released_at:%Y-%m-%d}" if policy.released_at else "",
        reader_in_words(policy.reader),
    ]
    return "; ".join(part for part in said if part) or NOTHING_SAID


def reader_in_words(reader: ReaderProfile) -> str:
    said = [f"hardware tier {reader.hardware_tier}"] if reader.hardware_tier else []
    said += [f"level {', '.join(reader.proficiency_levels)}"] if reader.proficiency_levels else []
    return f"readers with {' and '.join(said)}" if said else ""


def switched(value: bool | None, on: str, off: str) -> str:
    return "" if value is None else on if value else off
