"""What the program says itself is there in every language, with the same gaps to fill."""

from __future__ import annotations

import dataclasses
import string
from collections.abc import Mapping
from typing import Any

import pytest

from adapters.apologies import apologise
from adapters.discord import phrases as discord
from adapters.slack import phrases as slack
from rag_core.agent.language.languages import language_of_question
from rag_core.agent.phrases import PHRASES, phrases_for, phrases_in
from rag_core.errors import AnswerTimedOut, ModelBehaviourError, UpstreamUnavailable

LANGUAGES = ("en", "de", "es", "fr")
TABLES: Mapping[str, Mapping[str, Any]] = {
    "agent": PHRASES,
    "discord": discord.PHRASES,
    "slack": slack.PHRASES,
}


def gaps(sentence: str) -> set[str | None]:
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name is not None}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_is_there_with_the_gaps_of_the_english_one(
    table: str, language: str
) -> None:
    english, said = TABLES[table]["en"], TABLES[table][language]
    for field in dataclasses.fields(english):
        sentence = getattr(said, field.name)
        assert sentence.strip() == sentence != "", field.name
        assert gaps(sentence) == gaps(getattr(english, field.name)), field.name


@pytest.mark.parametrize("table", TABLES)
def test_no_sentence_was_left_in_english(table: str) -> None:
    english = dataclasses.asdict(TABLES[table]["en"])
    for language in LANGUAGES[1:]:
        said = dataclasses.asdict(TABLES[table][language])
        assert not [name for name in said if said[name] == english[name]], language


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wie schwer darf Basil heben?", "de"), ("Was Basil delivered?", None),
        ("¿Qué significa SEV2?", "es"), ("Comment nettoyer le bras ?", "fr"),
        ("What does SEV2 mean?", "en"), ("SEV2?", None), ("Was the oven cleaned?", "en"),
        ("Que signifie SEV2 ?", "fr"),
    ],
)  # fmt: skip
def test_a_short_question_tells_its_language(question: str, language: str | None) -> None:
    assert language_of_question(question) == language
    assert phrases_for(question, "es") == PHRASES[language or "es"]


@pytest.mark.parametrize("locale", ["de", "de-AT", "DE_ch"])
def test_a_region_changes_nothing(locale: str) -> None:
    assert phrases_in(locale) == PHRASES["de"]


@pytest.mark.parametrize(
    "error",
    [
        AnswerTimedOut("late"), ModelBehaviourError("cut"), UpstreamUnavailable("openai"),
        UpstreamUnavailable("qdrant"), UpstreamUnavailable("elsewhere"), RuntimeError("secret"),
    ],
)  # fmt: skip
def test_an_apology_speaks_the_askers_language_and_names_no_vendor(error: Exception) -> None:
    said = {str(apologise(error, locale)) for locale in LANGUAGES}
    assert len(said) == len(LANGUAGES)
    assert not [word for one in said for word in ("openai", "qdrant", "secret") if word in one]
