"""Trouble with the database that lasts: logged once, however many questions meet it."""

from __future__ import annotations

import logging

from rag_core.errors import StorageError

log = logging.getLogger(__name__)


class Trouble:
    """Says the sentence for the operator when it begins, and that it is over when it is."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._said = ""

    def met(self, error: Exception) -> None:
        reason = str(error) or type(error).__name__
        if reason == self._said:
            return
        self._said = reason
        if isinstance(error, StorageError):
            log.error("%s: the database fails", self._what, extra={"cause": self._said})
        else:
            log.error("%s: a defect", self._what, exc_info=error)

    def over(self) -> None:
        if self._said:
            log.info("%s: the database works again", self._what)
        self._said = ""
