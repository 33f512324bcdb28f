"""What the asker has said so far, as one text to look for."""

from __future__ import annotations

from collections.abc import Sequence

LONGEST = 1_000
"""Characters: embedding models read the beginning of a text, and the newest turns stand last."""


def thread_text(earlier: Sequence[str], text: str) -> str | None:
    """The newest turns that fit, in order, with the last one; none where there are no others.

    A turn that the text repeats, as a follow-up made to stand alone does, is not said twice."""
    told = " ".join(text.split())
    turns: list[str] = []
    room = LONGEST - len(told)
    for said in reversed([" ".join(each.split()) for each in earlier]):
        room -= len(said) + 1
        if room < 0:
            break
        if said not in told:
            turns.append(said)
    return " ".join([*reversed(turns), told]) if turns else None
