"""Every error that Footnote raises on purpose, in one tree.

    FootnoteError
    ├── ConfigurationError      the operator must change a setting; start-up stops
    ├── UpstreamError           a service answered wrongly or not at all
    │   ├── UpstreamUnavailable no answer came, so what it did is unknown
    │   └── UpstreamRejected    a clear refusal: nothing was done
    │       └── PlaceRefused    nothing is taken from us there, in whatever form
    ├── AnswerTimedOut          the question's own deadline passed
    ├── ModelBehaviourError     the language model answered with something unusable
    ├── StorageError            the database or the data folder
    │   ├── StorageFull         no space left; nothing was written
    │   ├── SchemaTooNew        the database belongs to a newer program
    │   └── FolderInUse         another process works in the data folder
    ├── LedgerConflict          the ledger works, and says no: control flow, not trouble
    │   ├── DeskFull            too many questions wait; this one was not accepted
    │   ├── ClaimLost           another worker has this question now
    │   └── Superseded          the question was changed or taken back meanwhile
    ├── IngestionError          one source could not be read
    ├── NoBookChosen            nothing says which book is read here, or that one is missing
    └── InvalidQuestion         what was asked is outside its bounds

The text of an error is one sentence for the person who must act. Nothing found, bad tool
arguments, low confidence and repeats are values, not errors.
"""

from __future__ import annotations

from collections.abc import Sequence


class FootnoteError(Exception):
    """Something that Footnote knows how to explain."""


class ConfigurationError(FootnoteError):
    """A setting is missing or wrong; all faults found are in the text, one a line."""


class UpstreamError(FootnoteError):
    """A service that Footnote depends on failed."""

    def __init__(
        self,
        service: str,
        reason: str = "",
        *,
        retryable: bool = False,
        retry_after: float | None = None,
        vendor_reason: str = "",
    ) -> None:
        super().__init__(f"{service}: {reason}" if reason else service)
        self.service = service
        self.reason = reason
        self.retryable = retryable
        self.retry_after = retry_after
        self.vendor_reason = vendor_reason
        """What the service itself wrote: for the operator, never for who asks."""


class UpstreamUnavailable(UpstreamError):
    """No usable answer came: what the service did with the request is unknown."""

    def __init__(self, service: str, reason: str = "no answer") -> None:
        super().__init__(service, reason, retryable=True)


class UpstreamRejected(UpstreamError):
    """The service said no: nothing was done. Retryable when it asked to come back later."""


class PlaceRefused(UpstreamRejected):
    """Not what was sent is refused but the place or the sender: another form of it meets the same
    answer, now and later."""


class AnswerTimedOut(FootnoteError):
    """The answer was not ready by its deadline."""


class ModelBehaviourError(FootnoteError):
    """The language model's reply was cut, empty, refused or malformed."""


class StorageError(FootnoteError):
    """The database or the data folder cannot be used."""


class StorageFull(StorageError):
    """There is no space left to write to."""


class SchemaTooNew(StorageError):
    """The database was written by a newer version of the program."""


class FolderInUse(StorageError):
    """Another process holds the data folder."""


class LedgerConflict(FootnoteError):
    """The ledger refused because of what others did meanwhile; the database itself works."""


class DeskFull(LedgerConflict):
    """Too many questions wait already: this one was not written down."""


class ClaimLost(LedgerConflict):
    """The claim ran out, or its thread is gone: whoever has it now gives the answer."""


class Superseded(LedgerConflict):
    """The asker changed the question or took it back while it was worked on."""


class IngestionError(FootnoteError):
    """One source could not become chunks."""

    def __init__(self, source: str, stage: str, reason: str) -> None:
        super().__init__(f"{source}: {reason}")
        self.source = source
        self.stage = stage
        self.reason = reason


class NoBookChosen(FootnoteError):
    """There is no book, or several and none is the default or bound to the channel; or those
    that are chosen are missing."""

    def __init__(self, missing: Sequence[str] = ()) -> None:
        super().__init__()
        self.missing = tuple(missing)


class InvalidQuestion(FootnoteError):
    """A field of a question or a search is outside its bounds."""

    def __init__(self, field: str, message: str, *, allowed: str = "") -> None:
        super().__init__(message)
        self.field = field
        self.message = message
        self.allowed = allowed
