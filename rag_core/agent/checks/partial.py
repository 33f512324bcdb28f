"""A reply while it is being written: what may be shown of it already."""

from __future__ import annotations

import re

from rag_core.agent.checks.guard import guarded
from rag_core.agent.language.blocks import FENCE, is_closing
from rag_core.agent.language.sentences import CODE_OR_MARKER, MARKER
from rag_core.agent.verification.markers import normalised

OPENERS = re.compile(
    r"\[[^\[\]]*\Z|\[[^\[\]]*\] ?(?:\([^)]*)?\Z|<[^\s>][^>]*\Z|[【［][^\]】］]*\Z|!\Z|&\S*\Z"
)
"""What may still become a link, a mention, a tag or a marker."""
SIMPLE = re.compile(r"(?:[A-Za-z0-9À-ÖØ-öø-ÿ \t,;.?'’\"()–%+=-]|: |\[\d{1,4}\](?=[ ,;.?)]))*+")
"""Characters that begin nothing, and plain markers: no need to look closer."""
WORDS = re.compile(r"(?:(?:[-*+]|\d{1,3}\.) )?[^\W\d_]")
"""How a line begins that is a paragraph or an item, whatever follows."""
HELD_AT_MOST = 2_000
"""A line that stays undecided for longer is shown when it ends."""


class PartialText:
    """Guards a growing text: what may begin a link, a mention or a marker is held until decided.

    What is shown is always a guarded text as a whole. Blocks that are complete are guarded once;
    where more text changes what was shown, all of it is replaced."""

    def __init__(self, *, ranks: frozenset[int] = frozenset(), shown_before: bool = False) -> None:
        self._ranks = ranks
        self._numbering: dict[int, int] = {}
        self._done = ""  # the blocks that nothing changes any more, guarded
        self._open = ""  # whole lines of the blocks behind them
        self._line = ""  # what came of the newest line
        self._fence = ""
        self._shown = ""
        self._shows = shown_before
        self._restart = shown_before

    @property
    def has_shown(self) -> bool:
        return self._shows

    def add(self, delta: str) -> None:
        self._line += delta
        while "\n" in self._line:
            line, self._line = self._line.split("\n", 1)
            self._end(line)

    def take(self) -> tuple[str, bool]:
        """What to show more; the flag says that it replaces all that was shown."""
        text = self._text()
        if text == self._shown or not text:
            return "", False
        goes_on = text.startswith(self._shown)
        delta = text[len(self._shown) :] if goes_on else text
        restart = self._restart or not goes_on
        self._shown, self._restart, self._shows = text, False, True
        return delta, restart

    def _end(self, line: str) -> None:
        """Add a whole line; an empty one outside of code ends what stands before it, unless the
        next one belongs to the same item or quote."""
        if self._fence:
            self._fence = "" if is_closing(line, self._fence) else self._fence
        elif fence := FENCE.match(line):
            self._fence = fence.group(1) or fence.group(2)
        if self._open.endswith("\n\n") and not self._fence and WORDS.match(line):
            self._done = self._joined(self._guarded(self._open))
            self._open = ""
        self._open += f"{line}\n"

    def _text(self) -> str:
        head = "" if self._fence else decided(self._line)
        if not self._done and "\n" not in self._open and not head:
            return self._shown
        text = self._open + head
        shown = self._guarded(text)
        if self._fence:
            shown = without_closing(shown)
        return self._joined(shown) if shown else self._done

    def _joined(self, shown: str) -> str:
        return f"{self._done}\n\n{shown}" if self._done else shown

    def _guarded(self, text: str) -> str:
        if is_simple(text):
            return CODE_OR_MARKER.sub(self._renumbered, text).strip()
        safe = guarded(text)
        marked = CODE_OR_MARKER.sub(self._renumbered, normalised(safe))
        return marked if marked == safe else guarded(marked)

    def _renumbered(self, found: re.Match[str]) -> str:
        if found["ticks"]:
            return found.group()
        marker = MARKER.search(found.group())
        rank = int(marker.group(1)) if marker else 0
        if rank not in self._ranks:
            return ""
        number = self._numbering.setdefault(rank, len(self._numbering) + 1)
        return f"{found.group()[: -len(found.group().lstrip())]}[{number}]"


def is_simple(text: str) -> bool:
    return (
        SIMPLE.fullmatch(text) is not None
        and WORDS.match(text) is not None
        and "www." not in text.lower()
    )


def decided(line: str) -> str:
    """The part of an unfinished line that nothing which follows can change."""
    end = line.rfind(" ")
    if end <= 0 or len(line) > HELD_AT_MOST or line.lstrip(" \t>").startswith(("`", "~", "|", "[")):
        return ""  # may be a fence, a table or the definition of a link
    head = line[:end]
    return head if is_simple(head) else cut_before_open(head)


def cut_before_open(text: str) -> str:
    """The part of a text before what is still open, cut at a space."""
    opened = OPENERS.search(text)
    if opened:
        text = text[: opened.start()]
    if text.count("`") % 2:
        text = text[: text.rfind("`")]
    return text[: max(text.rfind(" "), 0)] if opened or not text.endswith(" ") else text


def without_closing(text: str) -> str:
    """The text without the end of a fence that its author has not written yet."""
    body, _, last = text.rpartition("\n")
    return body if is_closing(last, "```") else text
