"""What every test gets: no network but loopback, and one fixed profile for property tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.memory import memory_folder
from tests.peers.qdrant_binary import binary, serving, storage_folder

settings.register_profile(
    "sample", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "full", deadline=None, max_examples=2_000, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("full" if os.environ.get("FOOTNOTE_TESTS") == "full" else "sample")


def pytest_configure() -> None:
    """Where tmp_path lies; whoever names a place decides."""
    if memory := memory_folder():
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(memory))


@pytest.fixture(scope="session")
def qdrant_program(pytestconfig: pytest.Config) -> Path:
    """The program of a real Qdrant server, kept in pytest's cache."""
    return binary(pytestconfig.cache.mkdir("qdrant"))


@pytest.fixture(scope="session")
def qdrant_url(qdrant_program: Path) -> Iterator[str]:
    """One real Qdrant server for all tests of this process; each takes a collection of its own."""
    with storage_folder() as folder, serving(qdrant_program, folder) as server:
        yield server.url
