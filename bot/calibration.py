"""Where cut-offs that were measured here are kept: beside the index that they are for."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from rag_core.errors import ConfigurationError
from rag_core.reading.estimate import Estimate

ESTIMATE_FILE = "estimate.json"


def keep_estimate(folder: Path, found: Estimate) -> Path:
    """Written in one step, so that a bot never reads half of it."""
    file = folder / ESTIMATE_FILE
    draft = file.with_suffix(".new")
    draft.write_text(found.model_dump_json(indent=2) + "\n", encoding="utf-8")
    return draft.replace(file)


def estimate_for(folder: Path, *, embedder: str, reader: str) -> Estimate:
    """The cut-offs measured here for this embedder and reader; else those that are shipped."""
    shipped = Estimate.shipped(embedder=embedder, reader=reader)
    file = folder / ESTIMATE_FILE
    if not file.is_file():
        return shipped
    try:
        kept = Estimate.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, ValidationError) as error:
        raise ConfigurationError(
            f"{file} cannot be read ({type(error).__name__}): delete it, or run"
            " `footnote calibrate` again."
        ) from error
    return kept if (kept.embedder, kept.reader) == (embedder, reader) else shipped
