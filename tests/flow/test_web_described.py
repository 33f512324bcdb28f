"""HTTP keeps what its description says, in the real program: tried by schemathesis."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

import pytest

from tests.flow.running_house import ROOT, footnote, running_house

FULL = os.environ.get("FOOTNOTE_TESTS") == "full"
EVERY_PHASE = "examples,coverage,fuzzing,stateful"
LOCAL, KEYED = (EVERY_PHASE, EVERY_PHASE) if FULL else ("coverage,fuzzing", "fuzzing")
"""Coverage tries every field of every address with all that it must take and refuse."""
EXAMPLES = 60 if FULL else 4
PATIENCE = 900 if FULL else 120
KEYS = [f"tried-{number}" for number in range(60 if FULL else 24)]
"""A key may send a hundred requests a minute."""
RULES = """
[checks]
enabled = true

[[operations]]
include-path = "/jobs/{job_id}"
checks.use_after_free.enabled = false
"""
"""DELETE ends a job; that it was there, and how it ended, can be read afterwards."""
PAGES = {
    "module-1/chapter-1/01-loans.md": "# Loans\n\n## Books\n\nA book may be kept for four weeks.\n",
    "module-1/chapter-1/02-films.md": "# Films\n\nA film may be kept for five days, no longer.\n",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    for name, text in PAGES.items():
        page = folder / "pages" / name
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
    (folder / "schemathesis.toml").write_text(RULES, encoding="utf-8")
    asyncio.run(footnote("ingest", "pages", "--book", "library", folder=folder))
    return folder


async def tried(
    address: str, description: Path, folder: Path, *, phases: str, lesson: str, keys: str
) -> str:
    """What schemathesis says of the addresses, after it found nothing wrong."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "schemathesis.cli", "run", str(description), "--url", address),
        *("--phases", phases, "--max-examples", str(EXAMPLES)),
        *("--seed", "11", "--generation-deterministic", "--generation-allow-x00", "false"),
        *("--workers", "1", "--no-color", "--continue-on-failure", "--warnings", "off"),
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "SCHEMATHESIS_HOOKS": "tests.fuzz.web_described",
            "TRIED_KEYS": keys,
            "TRIED_LESSON": lesson,
            "TRIED_FOLDER": str(folder / "pages"),
        },
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(PATIENCE):
        said, _ = await process.communicate()
    assert process.returncode == 0, said.decode()
    return said.decode()


@pytest.mark.parametrize(
    ("phases", "keys", "least"),
    [(LOCAL, "", 1_000), (KEYED, ",".join(KEYS), 100)],
    ids=["local", "with keys"],
)
async def test_every_address_keeps_what_its_description_says(
    library: Path, tmp_path: Path, phases: str, keys: str, least: int
) -> None:
    settings = {
        "FOOTNOTE_JOB_FOLDERS": str(library / "pages"),
        "FOOTNOTE_DEFAULT_BOOK": "library",
    }
    if keys:
        settings["FOOTNOTE_API_KEYS"] = ",".join(f"{key}:admin:library" for key in KEYS)
    async with running_house(library, **settings) as house:
        house.web.headers["Authorization"] = f"Bearer {house.key or KEYS[0]}"
        found = await house.web.post("/search", json={"text": "a film"})
        lesson = found.raise_for_status().json()["results"][0]["parent_doc_id"]
        description = tmp_path / "openapi.json"
        description.write_bytes((await house.web.get("/openapi.json")).raise_for_status().content)
        shown = keys or house.key
        said = await tried(
            house.address, description, library, phases=phases, lesson=lesson, keys=shown
        )
    made = re.search(r"(\d+) generated", said)
    assert made is not None
    assert int(made[1]) >= least
