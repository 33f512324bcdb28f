"""Where confidence's cut-offs are kept: beside the index that they were measured for."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from rag_core.agent.confidence.calibration import Calibration
from rag_core.errors import ConfigurationError

CALIBRATION_FILE = "calibration.json"


def keep_calibration(folder: Path, found: Calibration) -> Path:
    """Written in one step, so that a bot never reads half of it."""
    file = folder / CALIBRATION_FILE
    draft = file.with_suffix(".new")
    draft.write_text(found.model_dump_json(indent=2) + "\n", encoding="utf-8")
    return draft.replace(file)


def calibration_for(folder: Path, *, embedder: str) -> Calibration:
    """The cut-offs measured here for this embedder; else those that are shipped."""
    file = folder / CALIBRATION_FILE
    if not file.is_file():
        return Calibration.shipped()
    try:
        kept = Calibration.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, ValidationError) as error:
        raise ConfigurationError(
            f"{file} cannot be read ({type(error).__name__}): delete it, or run"
            " `footnote calibrate` again."
        ) from error
    return kept if kept.embedder == embedder else Calibration.shipped()
