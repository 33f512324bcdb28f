"""What the browser tests need of the machine: Chromium and axe, fetched where they are missing."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parents[2] / ".venv"
"""The environment's folder: nothing of this is part of the repository."""
NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
UNPACKED = "usr/lib/chromium/chromium"
AXE = "axe-core@4.14.0"
AXE_SHA512 = (
    "9WTZxEjsZ7b13TH8JPmbV2z8CHbl80/2hm3XPEG4JgNdQLK81IBRXmSxHfMAOkSqQeRxT/0dwNDz2GOm3zzpcQ=="
)


class NotFetched(Exception):
    """Something is missing, and could not be fetched; says what to do."""


@dataclass(frozen=True)
class Program:
    """How Chromium is started here."""

    path: Path
    environment: dict[str, str] = field(default_factory=dict)


def chromium(folder: Path = FOLDER, *, installed: bool = True) -> Program:
    """The installed Chromium, or the one unpacked into the environment's folder.

    Root installs it for the machine; anybody else unpacks the packages for this project alone."""
    with one_at_a_time(folder):
        for _ in range(2):
            if found := installed_chromium() if installed else None:
                return Program(found)
            if (folder / "chromium" / UNPACKED).exists():
                return unpacked_chromium(folder / "chromium")
            if installed and os.geteuid() == 0:
                install_chromium()
            else:
                unpack_chromium(folder / "chromium")
    raise NotFetched("Debian's chromium package holds no program called chromium any more.")


def installed_chromium() -> Path | None:
    return next((Path(found) for name in NAMES if (found := shutil.which(name))), None)


def unpacked_chromium(root: Path) -> Program:
    libraries = [str(path) for path in (root / "usr/lib").glob("*-linux-gnu*")]
    found = {"LD_LIBRARY_PATH": ":".join(libraries)} if libraries else {}
    if (root / "etc/fonts").exists():
        found["FONTCONFIG_PATH"] = str(root / "etc/fonts")
    return Program(root / UNPACKED, found)


def install_chromium() -> None:
    command = ["apt-get", "install", "-y", "--no-install-recommends", "chromium"]
    try:
        ran(command)
    except NotFetched:  # the lists of packages may be old, or not there yet
        ran(["apt-get", "update"])
        ran(command)


def unpack_chromium(root: Path) -> None:
    """Chromium and those of its libraries that the machine lacks; nothing is installed."""
    plan = ran(["apt-get", "-s", "install", "--no-install-recommends", "chromium"])
    packages = [line.split()[1] for line in plan.splitlines() if line.startswith("Inst ")]
    with tempfile.TemporaryDirectory(dir=root.parent) as draft:
        ran(["apt-get", "download", *(packages or ["chromium", "chromium-common"])], cwd=draft)
        for package in sorted(Path(draft).glob("*.deb")):
            ran(["dpkg", "-x", str(package), f"{draft}/root"])
        Path(draft, "root").rename(root)


def axe(folder: Path = FOLDER) -> str:
    """The script of axe-core, as published: its sum is checked each time it is fetched."""
    kept = folder / f"{AXE}.min.js"
    with one_at_a_time(folder):
        if not kept.exists():
            with tempfile.TemporaryDirectory(dir=folder) as draft:
                ran(["npm", "pack", AXE, "--silent", "--pack-destination", draft], cwd=draft)
                (package,) = Path(draft).glob("*.tgz")
                script = Path(draft, "axe.min.js")
                script.write_bytes(script_in(package))
                script.rename(kept)
    return kept.read_text(encoding="utf-8")


def script_in(package: Path) -> bytes:
    sum_of_it = base64.b64encode(hashlib.sha512(package.read_bytes()).digest()).decode()
    if sum_of_it != AXE_SHA512:
        raise NotFetched(f"What npm fetched as {AXE} is not what was published under that name.")
    with tarfile.open(package) as archive:
        member = archive.extractfile("package/axe.min.js")
        assert member is not None
        return member.read()


def ran(command: Sequence[str], *, cwd: str | None = None) -> str:
    """What a command printed; if it could not do its work, a sentence that says who can."""
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
            capture_output=True,
            text=True,
            timeout=600,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        said = str(getattr(error, "stderr", "") or error).strip().splitlines()
        raise NotFetched(
            f"The browser tests need Chromium and axe-core, and {' '.join(command[:3])} … could not"
            f" fetch them ({said[-1] if said else 'it said nothing'}). Install Debian's packages"
            " chromium and npm, or run the tests where these can be fetched."
        ) from error
    return done.stdout


@contextlib.contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Several test processes start at once, and one of them fetches."""
    folder.mkdir(exist_ok=True)
    with (folder / ".browser.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
