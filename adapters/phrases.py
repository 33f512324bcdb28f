"""The language of an answer, and the sentences around it that every platform says alike."""

from __future__ import annotations

from rag_core.agent.phrases import Phrases, language_for, phrases_for
from rag_core.desk.incoming import IncomingQuestion


def common_phrases(question: IncomingQuestion) -> Phrases:
    """In the language that was asked in, else in the one that is spoken there."""
    return phrases_for(question.question.message, question.locale)


def language_of(question: IncomingQuestion) -> str:
    """The same language, by the name that tables of sentences have for it."""
    return language_for(question.question.message, question.locale)
