"""An index keeps its embedding model; a key alone never changes it."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import SecretStr

from bot.embedding import EmbeddingChoice, chosen
from bot.settings import Settings, variables
from rag_core.errors import ConfigurationError
from rag_core.providers.embedders.models import FORMER_LOCAL_MODEL, LOCAL_MODEL, Runner

COHERE = {"COHERE_API_KEY": SecretStr("co")}
OPENAI = {"OPENAI_API_KEY": SecretStr("sk")}
LOCAL = EmbeddingChoice(runner="local", model=LOCAL_MODEL)
FORMER = EmbeddingChoice(runner="local", model=FORMER_LOCAL_MODEL)


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in variables():
        monkeypatch.delenv(variable, raising=False)


def settings(**values: Any) -> Settings:
    return Settings(_env_file=None, **values)


def by(runner: Runner, model: str) -> EmbeddingChoice:
    return EmbeddingChoice(runner=runner, model=model)


@pytest.mark.parametrize(
    ("values", "built_with", "choice"),
    [
        ({}, None, LOCAL),
        (COHERE, None, by("cohere", "embed-english-v3.0")),
        (OPENAI, None, LOCAL),
        (COHERE, LOCAL_MODEL, LOCAL),
        ({}, FORMER_LOCAL_MODEL, FORMER),
        (COHERE, FORMER_LOCAL_MODEL, FORMER),
        ({"FOOTNOTE_EMBEDDER": "local"}, FORMER_LOCAL_MODEL, FORMER),
        ({"FOOTNOTE_EMBEDDER": "local"}, "embed-v4.0", LOCAL),  # the index will name the difference
        (COHERE | OPENAI, "text-embedding-3-large", by("openai", "text-embedding-3-large")),
        (COHERE, "embed-v4.0", by("cohere", "embed-v4.0")),
        (COHERE | {"COHERE_MODEL": "embed-v4.0"}, None, by("cohere", "embed-v4.0")),
        (COHERE | {"FOOTNOTE_EMBEDDER": "local"}, None, LOCAL),
        (
            OPENAI | {"FOOTNOTE_EMBEDDER": "openai"},
            None,
            by("openai", "text-embedding-3-small"),
        ),
        (OPENAI | {"FOOTNOTE_EMBEDDER": "openai"}, "own", by("openai", "own")),
        (
            COHERE | {"COHERE_MODEL": "embed-english-v3.0"},
            "embed-v4.0",
            by("cohere", "embed-english-v3.0"),  # said outright: the index will name the difference
        ),
        (
            COHERE | {"FOOTNOTE_EMBEDDER": "cohere"},
            LOCAL_MODEL,
            by("cohere", "embed-english-v3.0"),
        ),
    ],
)
def test_the_index_decides_what_the_settings_leave_open(
    values: dict[str, Any], built_with: str | None, choice: EmbeddingChoice
) -> None:
    assert chosen(settings(**values), built_with) == choice


@pytest.mark.parametrize(
    ("built_with", "missing"),
    [("embed-english-v3.0", "COHERE_API_KEY"), ("text-embedding-3-small", "OPENAI_API_KEY")],
)
def test_an_index_whose_key_is_gone_says_which(built_with: str, missing: str) -> None:
    with pytest.raises(ConfigurationError, match=f"{built_with}, which needs {missing}"):
        chosen(settings(), built_with)
