"""Small text files that hang on a question: how much of them is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adapters.pastes import SplitMessage, split_message
from rag_core.conversation.context import ContextItem, ContextKind

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


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFile:
    """A file that was read."""

    name: str
    text: str

    @property
    def context(self) -> ContextItem:
        """The file as a part of what came with a question."""
        named = f"{' '.join(self.name.split())}:\n{self.text}"
        return ContextItem(kind=ContextKind.ATTACHMENT, text=named)


def ask_with_files(words: str, files: Sequence[TextFile]) -> tuple[SplitMessage, list[ContextItem]]:
    """What a message asks, and its files as context. A file alone is the message: chat programs
    make files of long messages."""
    if words or not files:
        return split_message(words), [file.context for file in files]
    return split_message(files[0].text), [file.context for file in files[1:]]
