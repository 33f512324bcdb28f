"""How much of the disk a folder takes."""

from __future__ import annotations

from pathlib import Path

from bot.examination.machine import MEGABYTE, size_of


def test_what_is_reserved_and_not_written_does_not_count(tmp_path: Path) -> None:
    with (tmp_path / "index").open("wb") as reserved:
        reserved.write(b"written" * 10_000)
        reserved.truncate(256 * MEGABYTE)
    assert 70_000 <= size_of(tmp_path) < MEGABYTE
