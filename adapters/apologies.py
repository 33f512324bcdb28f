"""An error → one plain sentence for the person who asked."""

from __future__ import annotations

from rag_core.agent.checks.guard import GuardedText, guarded
from rag_core.agent.phrases import phrases_in
from rag_core.errors import (
    AnswerTimedOut,
    InvalidQuestion,
    ModelBehaviourError,
    NoBookChosen,
    UpstreamError,
)

NAMES = {"openai": "model", "cohere": "search", "qdrant": "index", "database": "database"}
"""What people call a service; a vendor's name is nothing an asker can act on."""


def apologise(error: BaseException, locale: str = "en") -> GuardedText:
    """One sentence that says what happened and what the asker can do, never how we are built."""
    return guarded(sentence_for(error, locale))


def sentence_for(error: BaseException, locale: str = "en") -> str:
    phrases = phrases_in(locale)
    match error:
        case InvalidQuestion():
            return error.message
        case NoBookChosen(missing=[first, *_]):
            return (
                f"There is no book {' or '.join(error.missing)}, which is to be read here: an admin"
                f" can read it in with `footnote ingest PATH --book {first}`, or choose another one"
                " with `footnote books bind`."
            )
        case NoBookChosen():
            return (
                "No documents are chosen for this place yet: an admin can read some in with"
                " `footnote ingest`, or bind a book to this channel with `footnote books bind`."
            )
        case AnswerTimedOut():
            return phrases.late
        case ModelBehaviourError():
            return phrases.unusable
        case UpstreamError():
            service: str = getattr(phrases, NAMES.get(error.service, "service"))
            return phrases.unavailable.format(service=service)
        case _:
            return phrases.defect
