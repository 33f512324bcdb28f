"""A reply while it is being written: what may be shown of it already."""

from __future__ import annotations

import re

from rag_core.agent.checks.guard import disarmed, visible
from rag_core.agent.checks.markers import normalised
from rag_core.agent.language.blocks import FENCE, is_closing
from rag_core.agent.language.sentences import CODE_OR_MARKER, MARKER

OPENERS = re.compile(
    r"\[[^\[\]]*\Z|\[[^\[\]]*\] ?(?:\([^)]*)?\Z|<[^\s>][^>]*\Z|[【［][^\]】］]*\Z|!\Z|&\S*\Z"
)
"""What may still become a link, a mention, a tag or a marker."""
SIMPLE = re.compile(r"(?:[A-Za-z0-9À-ÖØ-öø-ÿ \t,;.?'’\"()–%+=*_#-]|: |\[\d{1,4}\](?=[ ,;.?)]))*+")
"""Characters that begin nothing, and plain markers: no need to look closer."""
APART = frozenset(["", *" \t,;.?)"])
"""What stands behind a marker as a rule, and makes nothing of what stands before it."""
HELD_AT_MOST = 2_000
"""A line that stays undecided for longer is shown when it ends."""


class PartialText:
    """Guards a growing text: what may begin a link, a mention or a marker is held until decided.

    A line is shown piece by piece, cut at spaces where nothing is open; each piece is guarded
    once."""

    def __init__(self, *, ranks: frozenset[int] = frozenset(), shown_before: bool = False) -> None:
        self._ranks = ranks
        self._numbering: dict[int, int] = {}
        self._line = ""  # what came of this line and is not settled yet
        self._begun = False  # whether something of this line is settled
        self._fence = ""
        self._ready: list[str] = []
        self._shows = shown_before
        self._restart = shown_before

    @property
    def has_shown(self) -> bool:
        return self._shows

    def add(self, delta: str) -> None:
        self._line += delta
        while "\n" in self._line:
            line, self._line = self._line.split("\n", 1)
            self._ready.append(self._ended(line) + "\n")
            self._begun = False
        self._settle()

    def take(self) -> tuple[str, bool]:
        """What to show more; the flag says that it replaces all that was shown."""
        delta = "".join(self._ready)
        self._ready.clear()
        if not delta:
            return "", False
        restart, self._restart, self._shows = self._restart, False, True
        return delta, restart

    def _ended(self, line: str) -> str:
        """The rest of a line, guarded; inside a fence as it is."""
        if self._fence:
            if is_closing(line, self._fence):
                self._fence = ""
            return visible(line)
        fence = None if self._begun else FENCE.match(line)
        if fence:
            self._fence = fence.group(1) or fence.group(2)
            return self._opening(line, fence)
        return self._guarded(line)

    @staticmethod
    def _opening(line: str, fence: re.Match[str]) -> str:
        """What opens a fence, with the language that is named behind it. Whatever else stands there
        is left out where it is not harmless prose: while the fence is open, who shows it may not
        know it for code."""
        name = line[fence.end(1 if fence.group(1) else 2) :]
        line = visible(line)
        if CODE_OR_MARKER.search(name) or disarmed(name, within_line=True) != visible(name):
            line = line.removesuffix(visible(name))
        return line

    def _settle(self) -> None:
        """Show as much of the unfinished line as nothing that follows can change."""
        end = self._line.rfind(" ")
        if end <= 0 or self._fence or len(self._line) > HELD_AT_MOST:
            return
        if not self._begun and self._line.lstrip(" \t>").startswith(("`", "~", "|", "[")):
            return  # may be a fence, a table or the definition of a link
        head = self._line[:end]
        if not is_simple(head):
            head = decided(head)
            if not head:
                return
        self._ready.append(self._guarded(head))
        self._line = self._line[len(head) :]
        self._begun = True

    def _guarded(self, text: str) -> str:
        if is_simple(text):
            return CODE_OR_MARKER.sub(self._renumbered, text) if "[" in text else text
        safe = disarmed(text, within_line=self._begun)
        marked = CODE_OR_MARKER.sub(self._renumbered, normalised(safe))
        return marked if marked == safe else disarmed(marked, within_line=self._begun)

    def _renumbered(self, found: re.Match[str]) -> str:
        if found["ticks"]:
            return found.group()
        marker = MARKER.search(found.group())
        rank = int(marker.group(1)) if marker else 0
        if rank not in self._ranks:
            return " " if self._joins(found) else ""
        number = self._numbering.setdefault(rank, len(self._numbering) + 1)
        return f"{found.group()[: -len(found.group().lstrip())]}[{number}]"

    def _joins(self, found: re.Match[str]) -> bool:
        """Whether without this what was shown and what follows would stand together, and might say
        what neither says: `@`, and `everyone`."""
        follows = found.string[found.end() :][:1]
        return self._begun and found.start() == 0 and follows not in APART


def is_simple(text: str) -> bool:
    return SIMPLE.fullmatch(text) is not None and "www." not in text.lower()


def decided(text: str) -> str:
    """The part of a text before what is still open, cut at a space."""
    opened = OPENERS.search(text)
    if opened:
        text = text[: opened.start()]
    if text.count("`") % 2:
        text = text[: text.rfind("`")]
    return text[: max(text.rfind(" "), 0)] if opened or not text.endswith(" ") else text
