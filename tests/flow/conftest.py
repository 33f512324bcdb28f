"""A database on the disk, for tests of what stands on it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rag_core.storage.engines.database import Database, open_database


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with open_database(f"sqlite:///{tmp_path}/footnote.db") as opened:
        yield opened
