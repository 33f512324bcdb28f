"""Trouble with the database that lasts: said once, however many questions meet it."""

from __future__ import annotations

import logging

from rag_core.errors import StorageError

log = logging.getLogger(__name__)


class Trouble:
    """Says the sentence for the operator when it begins, and that it is over when it is."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._said = ""

    def met(self, error: StorageError) -> None:
        if str(error) != self._said:
            self._said = str(error)
            log.error("%s: the database fails", self._what, extra={"cause": self._said})

    def over(self) -> None:
        if self._said:
            log.info("%s: the database works again", self._what)
        self._said = ""
