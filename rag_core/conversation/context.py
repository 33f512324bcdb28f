"""What came with a question and is not itself asked: its thread, pastes, files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from rag_core.errors import InvalidQuestion

MAX_CONTEXT = 20_000
"""Characters of all items, with the names of their authors."""


class ContextKind(StrEnum):
    """Where an item of context was taken from."""

    THREAD = "thread"
    REPLY = "reply"
    PASTE = "paste"
    ATTACHMENT = "attachment"
    IMAGE = "image"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextItem:
    """One message, paste or file beside a question."""

    kind: ContextKind
    text: str
    author: str = ""

    @property
    def size(self) -> int:
        return len(self.author) + len(self.text)


def check_context(items: Sequence[ContextItem]) -> None:
    """Refuse an item without text, and more text than a question may bring along."""
    allowed = f"at most {MAX_CONTEXT:,} characters in all, every item with text"
    if any(not item.text.strip() for item in items):
        raise InvalidQuestion("context", "An item of the context has no text.", allowed=allowed)
    size = sum(item.size for item in items)
    if size > MAX_CONTEXT:
        raise InvalidQuestion(
            "context",
            f"The context has {size:,} characters; it may have at most {MAX_CONTEXT:,} in all.",
            allowed=allowed,
        )
