"""A text within a bound; what was left out shows as an ellipsis."""

from __future__ import annotations

from adapters.graphemes import safe_cut


def at_most(text: str, characters: int) -> str:
    """The text as it stands, as much of it as so many characters hold."""
    if len(text) <= characters:
        return text
    return text[: safe_cut(text, 0, characters - 1)] + "…"


def one_line(text: str, characters: int) -> str:
    """The same on one line."""
    return at_most(" ".join(text.split()), characters)
