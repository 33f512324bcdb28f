"""The wheel works where no checkout is: built, installed, asked."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.flow.running_house import ROOT, Program, footnote, running_house

PACKAGES = ("bot", "adapters", "rag_core")
BESIDE = ("pyproject.toml", "README.md", "LICENSE", "NOTICE")
"""What the build reads besides the packages."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, so that the checkout stays as it is."""
    copy, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for package in PACKAGES:
        shutil.copytree(
            ROOT / package, copy / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    for name in BESIDE:
        shutil.copy(ROOT / name, copy)
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(built), str(copy))
    [file] = built.glob("*.whl")
    return file


@pytest.fixture(scope="module")
def program(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Program:
    """An environment with the wheel; of the tests' own only what others have made is seen."""
    home = tmp_path_factory.mktemp("environment")
    venv.create(home, with_pip=False)
    python = home / "bin" / "python"
    pip("--python", str(python), "install", "--no-deps", "--no-index", str(wheel))
    [packages] = home.glob("lib/python*/site-packages")
    # A path that a .pth file names is searched, but the .pth files in it are not followed: an
    # installation that leads to the checkout is not found this way.
    others = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (packages / "others.pth").write_text("\n".join(sorted(others)), encoding="utf-8")
    where = [str(python), "-c", "import bot; print(bot.__file__)"]
    found = subprocess.run(where, check=True, cwd=home, capture_output=True, text=True).stdout
    assert found.startswith(str(packages)), "the checkout is found instead of the wheel"
    return Program((str(home / "bin" / "footnote"),))


def pip(*arguments: str) -> None:
    called = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments]
    subprocess.run(called, check=True, cwd="/", capture_output=True)


def test_everything_that_the_packages_hold_is_in_the_wheel(wheel: Path) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", *PACKAGES], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    with ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert {name for name in tracked if (ROOT / name).exists()} <= packed
    assert not [name for name in packed if name.partition("/")[0] not in PACKAGES]


async def test_the_wheel_runs_reads_and_answers_in_an_empty_folder(
    program: Program, tmp_path: Path
) -> None:
    async with running_house(tmp_path, program=program) as house:
        unasked = await house.ask(message="How many requests a day are allowed?")
        assert "footnote ingest" in unasked["answer"]
        assert (await house.web.get("/")).is_success
        (tmp_path / "limits.md").write_text("# Limits\n\nTen requests a day are allowed.\n")
        printed, _ = await footnote(
            "ingest", "limits.md", "--book", "course", "--json", folder=tmp_path, program=program
        )
        assert json.loads(printed)["status"] == "completed"
        answered = await house.ask(message="How many requests a day are allowed?")
        assert "Ten requests" in answered["answer"]
    printed, _ = await footnote(
        "ask", "How many requests a day are allowed?", folder=tmp_path, program=program
    )
    assert "Ten requests" in printed
