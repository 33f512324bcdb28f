"""What the program's database says, read beside the program and put into our words."""

from __future__ import annotations

import contextlib
import re
import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import asyncpg

from tests.faults.answering_model import CANARY
from tests.faults.record import Place, Stored

KEY_FORM = re.compile(r"[0-9a-f]{20}[0-9]{4}")
STORED = """
SELECT q.id, q.message_id, q.body, q.closed_at, q.platform, q.channel_id, t.thread_id,
  (SELECT count(*) FROM parts p WHERE p.question = q.id) AS parts,
  (SELECT count(*) FROM answers a WHERE a.question = q.id) AS answers,
  (SELECT messages FROM turns u WHERE u.question = q.id) AS said
FROM questions q JOIN threads t ON t.id = q.thread
"""


SHOWN = "SELECT question, number, revision, external_id FROM parts WHERE external_id IS NOT NULL"


def key_from(row: Mapping[str, Any]) -> str:
    return f"{row['question'].replace('-', '')[:18]}{row['revision']:02x}{row['number']:04d}"


def stored_from(row: Mapping[str, Any]) -> Stored:
    place: Place = (row["platform"], row["channel_id"], row["thread_id"])
    return Stored(
        question_id=row["id"].replace("-", ""),
        message_id=row["message_id"],
        place=place,
        canary="".join(CANARY.findall(row["body"])[:1]),
        ended=row["closed_at"] is not None,
        parts=row["parts"],
        answers=row["answers"],
        said=tuple(CANARY.findall(row["said"] or "")),
    )


def rows_of_sqlite(file: Path, query: str) -> Sequence[Mapping[str, Any]]:
    with contextlib.closing(
        sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=10)
    ) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(query).fetchall()]


def copied(file: Path, folder: Path) -> Path:
    """The database and its log as they are at one moment, between two checkpoints."""
    folder.mkdir(exist_ok=True)
    log = file.with_name(f"{file.name}-wal")
    while True:
        before = (file.stat().st_mtime_ns, log.read_bytes()[:32])
        shutil.copyfile(log, folder / log.name)
        shutil.copyfile(file, folder / file.name)
        (folder / f"{file.name}-shm").unlink(missing_ok=True)
        if before == (file.stat().st_mtime_ns, log.read_bytes()[:32]):
            return folder / file.name


async def rows_of_postgres(url: str, query: str) -> Sequence[Mapping[str, Any]]:
    connection = await asyncpg.connect(url)
    try:
        return [dict(row) for row in await connection.fetch(query)]
    finally:
        await connection.close()
