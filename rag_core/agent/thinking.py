"""The answer in a reply that is still being written, apart from what the model thinks aloud."""

from __future__ import annotations

import re

from rag_core.agent.prompts import MARKS, NOT_COVERED

TAG = re.compile(r"<(?P<end>/?)\s*(?:think|thinking|thought|reasoning)\s*>", re.IGNORECASE)
MAY_BE_TAG = re.compile(r"<[^<>\n]{0,16}\Z")
"""A beginning that may become a tag with the next piece."""
FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
LEADING_MARKS = re.compile(rf"\A{MARKS}")


class AnswerText:
    """Takes a reply piece by piece; nested, cut and unclosed thoughts are left out of its text.

    A tag in code is a word like any other."""

    def __init__(self) -> None:
        self.text = ""
        """The answer so far."""
        self._rest = ""
        self._depth = 0
        self._has_tags = False
        self._line = self._shown = 0

    def add(self, piece: str) -> tuple[str, bool]:
        """What may be shown more; the flag says that all that was shown before was thought, too."""
        self._rest += piece
        restart = False
        while tag := TAG.search(self._rest):
            if not self._depth:
                self.text += self._rest[: tag.start()]
            is_code = not self._depth and self._is_in_code()
            if is_code:
                self.text += tag.group()
            elif not tag["end"]:
                self._depth += 1
            elif self._depth:
                self._depth -= 1
            elif not self._has_tags:  # some servers send the opening tag as part of the prompt
                self.text, restart = "", True
                self._line = self._shown = 0
            self._has_tags |= not is_code
            self._rest = self._rest[tag.end() :]
        held = MAY_BE_TAG.search(self._rest)
        end = held.start() if held else len(self._rest)
        if not self._depth:
            self.text += self._rest[:end]
        self._rest = self._rest[end:]
        return self._take(), restart

    def end(self) -> str:
        """What was held back and may be shown, once nothing follows."""
        if not self._depth:
            self.text += self._rest
        self._rest = ""
        return self._take(is_whole=True)

    def _take(self, *, is_whole: bool = False) -> str:
        """The text behind what was shown; lines with the word of a refusal never are."""
        taken = ""
        while self._shown < len(self.text):
            line_end = self.text.find("\n", self._shown)
            end = line_end + 1 if line_end >= 0 else len(self.text)
            is_ended = line_end >= 0 or is_whole
            if self._shown == self._line:
                head = LEADING_MARKS.sub("", self.text[self._line : end])
                if not is_ended and NOT_COVERED.startswith(head[: len(NOT_COVERED)]):
                    break
                if head.startswith(NOT_COVERED):
                    self._shown = self._line = end
                    continue
            taken += self.text[self._shown : end]
            self._shown = end
            if line_end >= 0:
                self._line = end
        return taken

    def _is_in_code(self) -> bool:
        line = self.text.rpartition("\n")[2]
        return line.count("`") % 2 == 1 or len(FENCE.findall(self.text)) % 2 == 1
