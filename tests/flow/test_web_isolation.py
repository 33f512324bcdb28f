"""When a thread's deletion was answered, nothing of it is left in the data folder."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from uuid import uuid4

from tests.flow.running_house import footnote, running_house

PAGE = "# Loans\n\n## Books\n\nA book may be kept for four weeks. A film may be kept five days.\n"
MARK = "QZXVDOG"
AFTER = 2.0
"""Seconds after the answer at which nothing may be found."""


def on_disk(folder: Path, wanted: Iterable[str]) -> list[tuple[str, str]]:
    """Which of these words stand in which file, in its name or in its bytes, in any case."""
    found = []
    for file in folder.rglob("*"):
        content = file.read_bytes().lower() if file.is_file() else b""
        found += [
            (word, file.name)
            for word in wanted
            if word.lower().encode() in content or word.lower() in file.name.lower()
        ]
    return found


async def test_nothing_of_a_deleted_thread_can_be_found_on_the_disk(tmp_path: Path) -> None:
    (tmp_path / "loans.md").write_text(PAGE, encoding="utf-8")
    await footnote("ingest", "loans.md", "--book", "library", folder=tmp_path)
    data, session, other = tmp_path / "data", str(uuid4()), str(uuid4())
    async with running_house(tmp_path) as house:
        kept = await house.ask(message="May KEEPTHIS bring a dog?", session_id=other)
        first = await house.ask(message=f"May {MARK} come in?", session_id=session)
        followed = await house.ask(message=f"And what of {MARK}TWO there?", session_id=session)
        answered = await house.ask(
            message=f"How long may a film be kept by {MARK}?", session_id=session
        )
        assert {first["outcome"], followed["outcome"]} == {"no_results"}
        rating = {
            "answer_id": answered["answer_id"],
            "rating": "not_helpful",
            "reason": f"{MARK} was not told",
        }
        assert (await house.web.post("/feedback", json=rating)).status_code == 204
        streamed = await house.web.post(
            "/page/stream",
            json={"message": f"Is {MARK}THREE kept?", "session_id": session},
            headers={"Last-Event-ID": f"{uuid4().hex}.00000000.0"},
        )
        assert "event: final" in streamed.text
        gaps = (await house.web.get("/gaps")).json()["gaps"]
        assert any(MARK in gap["example"] + "".join(gap["examples"]) for gap in gaps)
        stories = (await house.web.get("/admin/answers")).text
        assert MARK in stories
        secrets = [MARK, session, first["answer_id"], answered["session_id"]]
        assert {word for word, _ in on_disk(data, secrets)} == set(secrets)

        deleted = await house.web.delete(f"/threads/{session}")
        assert deleted.status_code == 204
        await asyncio.sleep(AFTER)
        assert on_disk(data, secrets) == []
        for page in ("/gaps", "/gaps/csv", "/admin/gaps", "/admin/answers", "/"):
            assert MARK not in (await house.web.get(page)).text, page
        assert (await house.web.get(f"/admin/answers/{first['answer_id']}")).status_code == 404
        assert on_disk(data, ["KEEPTHIS"])
        assert (await house.web.get(f"/threads/{other}")).json()["turn_count"] == 1
        assert kept["session_id"] == other
    assert on_disk(data, secrets) == [], "nor after the end"
    assert not any(MARK in line for line in house.said), "nor in the log"


async def test_a_deleted_question_leaves_nothing_but_its_thread(tmp_path: Path) -> None:
    (tmp_path / "loans.md").write_text(PAGE, encoding="utf-8")
    await footnote("ingest", "loans.md", "--book", "library", folder=tmp_path)
    _data, session, message = tmp_path / "data", str(uuid4()), uuid4().hex
    async with running_house(tmp_path) as house:
        await house.ask(message="How long may a film be kept?", session_id=session)
        await house.web.post(
            "/page/stream",
            json={"message": f"May {MARK} come in?", "session_id": session},
            headers={"Last-Event-ID": f"{message}.00000000.0"},
        )
        await house.web.get("/gaps")
        assert (await house.web.delete(f"/page/questions/{message}")).status_code == 204
        thread = (await house.web.get(f"/threads/{session}")).json()
        assert MARK not in str(thread)
        assert MARK not in (await house.web.get("/gaps")).text
        assert MARK not in (await house.web.get("/", params={"thread": session})).text
    assert "How long may a film be kept?" in str(thread)
