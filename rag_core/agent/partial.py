"""A reply while it is being written: what may be shown of it already."""

from __future__ import annotations

import re

from rag_core.agent.blocks import FENCE, is_closing
from rag_core.agent.guard import disarmed, visible
from rag_core.agent.markers import CODE_OR_MARKER, normalised
from rag_core.agent.sentences import MARKER

OPENERS = re.compile(
    r"\[[^\]]*\Z|\[[^\]]*\](?:\([^)]*)?\Z|<[^\s>][^>]*\Z|[【［][^\]】］]*\Z|!\Z|&\S*\Z"
)
PLAIN = re.compile(r"[\w \t,;.?'’\"()–%+=-]*")
"""Characters that begin nothing: a line of them is shown as it is."""


class PartialText:
    """Guards a growing text: what may begin a link, a mention or a marker is held until decided."""

    def __init__(self, *, ranks: frozenset[int] = frozenset(), shown_before: bool = False) -> None:
        self._ranks = ranks
        self._numbering: dict[int, int] = {}
        self._line = ""
        self._fence = ""
        self._done = ""  # whole lines, as they may be shown
        self._shown = ""
        self._restart = shown_before

    @property
    def has_shown(self) -> bool:
        return bool(self._shown) or self._restart

    def add(self, delta: str) -> None:
        *lines, self._line = (self._line + delta).split("\n")
        for line in lines:
            self._done += self._finished(line) + "\n"

    def take(self) -> tuple[str, bool]:
        """What to show more; the flag says that it replaces all that was shown."""
        ready = self._done + self._begun()
        if not ready:
            return "", False
        restart = self._restart or not ready.startswith(self._shown)
        if restart:
            self._restart = False
            delta = ready
        else:
            delta = ready[len(self._shown) :]
        self._shown = ready
        return delta, restart

    def _finished(self, line: str) -> str:
        """A whole line, guarded; inside a fence as it is."""
        fence = FENCE.match(line)
        if self._fence:
            if is_closing(line, self._fence):
                self._fence = ""
            return visible(line)
        if fence:
            self._fence = fence.group(1) or fence.group(2)
            return visible(line)
        return line if PLAIN.fullmatch(line) else self._guarded(line)

    def _begun(self) -> str:
        """As much of the unfinished line as nothing that follows can change."""
        if self._fence or not self._line.strip(" \t>`~"):
            return ""
        if self._line.lstrip(" \t>").startswith(("`", "~", "|")):
            return ""
        head = self._line[: max(self._line.rfind(" "), 0)]
        if PLAIN.fullmatch(head):
            return head
        opened = OPENERS.search(head)
        if opened:
            head = head[: opened.start()]
        if head.count("`") % 2:
            head = head[: head.rfind("`")]
        return self._guarded(head.rstrip())

    def _guarded(self, text: str) -> str:
        return disarmed(CODE_OR_MARKER.sub(self._renumbered, normalised(visible(text))))

    def _renumbered(self, found: re.Match[str]) -> str:
        if found["ticks"]:
            return found.group()
        marker = MARKER.search(found.group())
        rank = int(marker.group(1)) if marker else 0
        if rank not in self._ranks:
            return ""
        number = self._numbering.setdefault(rank, len(self._numbering) + 1)
        return f"{found.group()[: -len(found.group().lstrip())]}[{number}]"
