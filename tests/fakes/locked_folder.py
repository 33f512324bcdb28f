"""A folder that may not be looked into, also where the tests may look into every one."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest


def locked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder, whose files can be asked for and not be seen from now on."""
    look = os.stat

    def refused(path: Any, **how: Any) -> os.stat_result:
        if isinstance(path, str | os.PathLike) and folder in Path(path).parents:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return look(path, **how)

    monkeypatch.setattr(os, "stat", refused)
    return folder
