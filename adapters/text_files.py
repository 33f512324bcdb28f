"""Small text files that hang on a question: how much of them is read, and how it is quoted."""

from __future__ import annotations

MAX_BYTES = 20_000
MAX_FILES = 3
TEXT_TYPES = (
    "text/",
    "application/json",
    "application/xml",
    "application/x-yaml",
    "application/yaml",
)


def text_in(raw: bytes) -> str | None:
    """What a file says; None where it says nothing, or is no text."""
    if b"\0" in raw:
        return None
    return raw.decode("utf-8", errors="replace").replace("\ufeff", "").strip() or None


def fenced(name: str, text: str) -> str:
    """A file as a part of the question that it hangs on."""
    fence = "```" if "```" not in text else "~~~"
    return f"{' '.join(name.split())}:\n{fence}\n{text}\n{fence}"
