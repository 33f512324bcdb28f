"""What is noted of a question that ended in an error, for whoever keeps the house."""

from __future__ import annotations

import pytest

from rag_core.agent.answer import ErrorKind
from rag_core.desk.unanswered import kind_of
from rag_core.errors import (
    AnswerTimedOut,
    ClaimLost,
    DeskFull,
    InvalidQuestion,
    LedgerConflict,
    ModelBehaviourError,
    NoBookChosen,
    StorageError,
    Superseded,
    UpstreamRejected,
    UpstreamUnavailable,
)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (InvalidQuestion("module", "There is no module 'x'."), ErrorKind.INVALID),
        (NoBookChosen(), ErrorKind.RETRIEVAL),
        (UpstreamUnavailable("qdrant"), ErrorKind.RETRIEVAL),
        (UpstreamRejected("cohere", "429"), ErrorKind.RETRIEVAL),
        (UpstreamUnavailable("openai"), ErrorKind.API),
        (ModelBehaviourError("cut"), ErrorKind.API),
        (AnswerTimedOut(), ErrorKind.API),
        (RuntimeError("a defect"), ErrorKind.API),
    ],
)
def test_each_error_tells_what_it_was_that_failed(error: Exception, kind: ErrorKind) -> None:
    assert kind_of(error) is kind


@pytest.mark.parametrize("conflict", [DeskFull, ClaimLost, Superseded])
def test_a_conflict_in_the_ledger_is_no_trouble_with_the_database(
    conflict: type[LedgerConflict],
) -> None:
    assert issubclass(conflict, LedgerConflict)
    assert not issubclass(conflict, StorageError)
