"""An error → one plain sentence for the person who asked."""

from __future__ import annotations

from rag_core.agent.guard import GuardedText, guarded
from rag_core.errors import (
    AnswerTimedOut,
    InvalidQuestion,
    ModelBehaviourError,
    NoBookChosen,
    UpstreamError,
)

NAMES = {
    "openai": "language model",
    "cohere": "search model",
    "qdrant": "index",
    "database": "database",
}
"""What people call a service; a vendor's name is nothing an asker can act on."""


def apologise(error: BaseException, locale: str = "en") -> GuardedText:
    """One sentence that says what happened and what the asker can do, never how we are built."""
    return guarded(sentence_for(error))


def sentence_for(error: BaseException) -> str:
    match error:
        case InvalidQuestion():
            return error.message
        case NoBookChosen():
            return (
                "No documents are chosen for this place yet: an admin can read some in with"
                " `footnote ingest`, set FOOTNOTE_DEFAULT_BOOK, or bind a book to this channel"
                " with `footnote books bind`."
            )
        case AnswerTimedOut():
            return "I could not finish this answer in time. Please ask again in a moment."
        case ModelBehaviourError():
            return "The language model gave no usable answer. Please ask again."
        case UpstreamError():
            name = NAMES.get(error.service, "service")
            return f"The {name} is not available right now. Please ask again in a few minutes."
        case _:
            return (
                "Something went wrong on our side and this question was not answered."
                " Please ask again; the operator finds the cause in the log."
            )
