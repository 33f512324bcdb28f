"""Which embedding model serves: an index keeps the one that it was built with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bot.settings import Settings
from rag_core.errors import ConfigurationError
from rag_core.providers.embedders.models import (
    FORMER_LOCAL_MODEL,
    LOCAL_MODEL,
    Runner,
    runner_of,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingChoice:
    """A model and who runs it."""

    runner: Runner
    model: str

    @property
    def is_outdated(self) -> bool:
        """Whether an index built today would have a better model of the same kind."""
        return self.model == FORMER_LOCAL_MODEL


def chosen(settings: Settings, built_with: str | None) -> EmbeddingChoice:
    """What the settings say; what they leave open stays as the index has it."""
    runner = settings.embedder or usual(settings, built_with)
    choice = EmbeddingChoice(runner=runner, model=model_of(settings, runner, built_with))
    check_access(settings, choice)
    return choice


def usual(settings: Settings, built_with: str | None) -> Runner:
    """A key alone chooses for a new index only."""
    if built_with is not None:
        return runner_of(built_with)
    return "cohere" if settings.cohere_api_key else "local"


def model_of(settings: Settings, runner: Runner, built_with: str | None) -> str:
    if runner == "local":
        is_local = built_with is not None and runner_of(built_with) == "local"
        return built_with if built_with is not None and is_local else LOCAL_MODEL
    name = "cohere_model" if runner == "cohere" else "openai_embedding_model"
    if (
        name not in settings.model_fields_set
        and built_with is not None
        and runner_of(built_with) == runner
    ):
        return built_with
    return str(getattr(settings, name))


def advice_on_renewal(settings: Settings, index_folder: Path) -> str:
    """How an index with an outdated model gets the better one; what was said in threads stays."""
    begin_anew = (
        f"stop the bot, move {index_folder} away and start it again"
        if settings.qdrant_url is None
        else "set QDRANT_COLLECTION_NAME to a new name and restart the bot"
    )
    return (
        f"To have {LOCAL_MODEL}, which finds more: {begin_anew}, then read each book anew with"
        " `footnote ingest PATH --book ID --mode recreate`."
    )


def check_access(settings: Settings, choice: EmbeddingChoice) -> None:
    """An index whose model cannot be asked any more is a matter for the operator."""
    has_openai = settings.openai_api_key is not None or settings.openai_base_url is not None
    if choice.runner == "cohere" and settings.cohere_api_key is None:
        raise out_of_reach(choice.model, "COHERE_API_KEY")
    if choice.runner == "openai" and not has_openai:
        raise out_of_reach(choice.model, "OPENAI_API_KEY or OPENAI_BASE_URL")


def out_of_reach(model: str, missing: str) -> ConfigurationError:
    return ConfigurationError(
        f"The index was built with the embedding model {model}, which needs {missing}: set it"
        " again, or begin a new index (another FOOTNOTE_DATA_DIR or QDRANT_COLLECTION_NAME) and"
        " ingest again."
    )
