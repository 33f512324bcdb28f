"""`footnote doctor` names what is missing and what to do, and is content with a whole house."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.flow.running_house import PATIENCE, footnote, running_house

FAILED, WRONG = 1, 2


async def findings(
    folder: Path, *, expect: int | None = 0, settings: Mapping[str, str] | None = None
) -> dict[str, dict[str, Any]]:
    printed, _ = await footnote("doctor", "--json", folder=folder, expect=expect, settings=settings)
    return {found["name"]: found for found in json.loads(printed)["findings"]}


async def with_a_book(folder: Path) -> None:
    (folder / "limits.md").write_text("# Limits\n\nTen requests a day are allowed.\n")
    await footnote("ingest", "limits.md", "--book", "course", folder=folder)


async def test_an_empty_house_is_told_how_to_get_its_first_book(tmp_path: Path) -> None:
    found = await findings(tmp_path, expect=FAILED)

    assert not found["default book"]["in_place"]
    assert "footnote ingest" in found["default book"]["advice"]
    assert all(each["in_place"] for name, each in found.items() if name != "default book")


async def test_a_whole_house_is_in_place_with_and_without_a_running_bot(tmp_path: Path) -> None:
    await with_a_book(tmp_path)

    alone = await findings(tmp_path)
    assert "does not run" in alone["bot"]["detail"]
    assert "1 files, 1 passages" in alone["book course"]["detail"]

    async with running_house(tmp_path) as house:
        beside = await findings(tmp_path, settings={"FOOTNOTE_WEB_PORT": "1"})
        port = house.web.base_url.port
    assert "does not run" not in beside["bot"]["detail"]
    assert all(each["in_place"] for each in beside.values())
    # Where the running bot really listens, whatever the settings of this command say.
    assert beside["web door"]["detail"].startswith(f"127.0.0.1:{port}, ")


async def test_an_index_that_was_moved_away_is_told_and_read_anew(tmp_path: Path) -> None:
    await with_a_book(tmp_path)
    shutil.rmtree(tmp_path / "data" / "index")
    found = await findings(tmp_path, expect=FAILED)
    assert "0 of 1 book can be found" in found["passages"]["detail"]
    assert "footnote ingest" in found["passages"]["advice"]
    await footnote("ingest", "limits.md", "--book", "course", folder=tmp_path)
    assert all(each["in_place"] for each in (await findings(tmp_path)).values())


async def test_an_index_of_another_version_says_where_it_is(tmp_path: Path) -> None:
    await with_a_book(tmp_path)
    (state,) = (tmp_path / "data" / "index").glob("*.json")
    state.write_text(state.read_text().replace('"layout": ', '"layout": 9'))
    _, said = await footnote("ask", "How many?", folder=tmp_path, expect=WRONG)
    assert str(tmp_path / "data" / "index") in said
    assert "another version of Footnote" in said


@pytest.mark.parametrize("command", ["run", "doctor"])
async def test_a_wrong_api_key_is_told_before_anything_starts(tmp_path: Path, command: str) -> None:
    wrong = {"FOOTNOTE_API_KEYS": "a-secret-key:boss"}
    _, said = await footnote(command, folder=tmp_path, settings=wrong, expect=WRONG)
    assert said == (
        "footnote: FOOTNOTE_API_KEYS: key 1: has the scope 'boss'; allowed are ask, read, admin.\n"
    )


async def test_a_language_model_that_nobody_serves_is_named(tmp_path: Path) -> None:
    await with_a_book(tmp_path)
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # bound and not listening: every connection is refused
        address = f"http://127.0.0.1:{held.getsockname()[1]}/v1/"
        found = await findings(tmp_path, expect=FAILED, settings={"OPENAI_BASE_URL": address})

    assert not found["language model"]["in_place"]
    assert "OPENAI_BASE_URL" in found["language model"]["advice"]
    assert found["database"]["in_place"]


async def test_a_file_that_failed_is_named_with_its_book(tmp_path: Path) -> None:
    await with_a_book(tmp_path)
    (tmp_path / "limits.md").write_bytes(b"\x00\x01" * 5_000)
    await footnote("ingest", "limits.md", "--book", "course", folder=tmp_path, expect=FAILED)

    found = await findings(tmp_path, expect=FAILED)

    assert not found["book course"]["in_place"]
    assert "limits.md" in found["book course"]["detail"]


async def test_a_file_that_failed_beside_others_is_a_warning_and_no_fault(tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "limits.md").write_text("# Limits\n\nTen requests a day are allowed.\n")
    for number in range(5):
        (pages / f"plan-{number}.pdf").write_bytes(b"no PDF at all")
    await footnote("ingest", "pages", "--book", "course", folder=tmp_path)

    found = (await findings(tmp_path))["book course"]
    shown, _ = await footnote("doctor", folder=tmp_path)

    assert found["in_place"]
    assert found["is_warning"]
    assert "5 files could not be read: plan-0.pdf: it is damaged, or not a PDF" in found["detail"]
    assert found["detail"].endswith("; and 2 more")
    assert "footnote ingest" in found["advice"]
    assert "!  book course" in shown

    for page in pages.glob("*.pdf"):
        page.unlink()
    await footnote("ingest", "pages", "--book", "course", folder=tmp_path)
    assert not (await findings(tmp_path))["book course"]["is_warning"]


async def test_what_failed_of_a_source_is_told_until_the_source_is_removed(tmp_path: Path) -> None:
    await with_a_book(tmp_path)
    address = "https://nobody.invalid/sitemap.xml"
    await footnote("sources", "add", address, "--book", "course", folder=tmp_path)
    async with running_house(tmp_path), asyncio.timeout(PATIENCE):
        while (found := await findings(tmp_path, expect=None))["book course"]["in_place"]:  # noqa: ASYNC110
            await asyncio.sleep(0.1)  # nothing tells that the source was tried
        assert not found[f"source {address}"]["in_place"]
        await footnote("sources", "remove", address, folder=tmp_path)
        assert (await findings(tmp_path))["book course"]["in_place"]


async def test_a_key_that_can_be_guessed_is_warned_of_and_not_shown(tmp_path: Path) -> None:
    await with_a_book(tmp_path)
    keys = {"FOOTNOTE_API_KEYS": f"{'k' * 16}:admin,pass-w0rd"}
    found = (await findings(tmp_path, settings=keys))["web door"]
    async with running_house(tmp_path, **keys) as house:
        beside = (await findings(tmp_path))["web door"]
        said = "".join(house.said)

    for each in (found, beside):
        assert each["in_place"]
        assert each["is_warning"]
        assert "key 2 is shorter than 16 characters" in each["detail"]
        assert "pass-w0rd" not in str(each)
    assert "key 2 is shorter than 16 characters" in said
    assert "pass-w0rd" not in said


async def test_a_misspelled_setting_and_a_closed_book_that_is_not_there_are_warned_of(
    tmp_path: Path,
) -> None:
    await with_a_book(tmp_path)
    (tmp_path / ".env").write_text("FOOTNOTE_CLOSED_BOOK=course\nFOOTNOTE_CLOSED_BOOKS=exams\n")
    found = await findings(tmp_path)
    assert found["settings"]["is_warning"]
    assert "FOOTNOTE_CLOSED_BOOK is no setting" in found["settings"]["detail"]
    assert found["closed books"]["is_warning"]
    assert "names exams; there is no such book" in found["closed books"]["detail"]

    _, said = await footnote("books", folder=tmp_path)
    assert said == "FOOTNOTE_CLOSED_BOOK is no setting; FOOTNOTE_CLOSED_BOOKS is.\n"

    (tmp_path / ".env").write_text("FOOTNOTE_CLOSED_BOOKS=course\n")
    found = await findings(tmp_path)
    assert not found["settings"]["is_warning"]
    assert not found["closed books"]["is_warning"]


async def test_a_house_that_cannot_open_says_why(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "footnote.db").write_bytes(b"this is no database" * 100)

    found = await findings(tmp_path, expect=FAILED)

    assert not found["house"]["in_place"]
    assert found["disk"]["in_place"]
