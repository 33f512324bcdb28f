"""A refusal in Slack, a reply by staff, and what becomes of it: through the real program."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest

from adapters.staff_answers import WITHDRAWN
from tests.flow.running_house import footnote, running_house
from tests.flow.test_slack_whole_way import settings, until
from tests.peers.slack import ANN, BEN, CLEO, GENERAL, MENTION, SlackMessage, SlackPeer
from tests.peers.slack_house import Whisper, controls_in
from tests.peers.slack_world import TEAM
from tests.shelf_builders import write_files

PAGE = "# The reading room\n\nIn summer the reading room opens at 9:30 and closes at 20:00.\n"
ASKED = "Where can I leave my bicycle at night?"
SAID = "Bicycles stay overnight in the blue shed behind the chapel. <!channel>"
REFUSED = "do not cover"


@pytest.fixture
async def library(tmp_path: Path) -> Path:
    write_files(tmp_path / "pages", {"room.md": PAGE})
    await footnote("ingest", "pages", "--book", "library", folder=tmp_path)
    await footnote("books", "bind", "slack", TEAM, "library", folder=tmp_path)
    return tmp_path


@pytest.fixture
async def slack() -> AsyncIterator[SlackPeer]:
    async with SlackPeer(ack_seconds=20) as peer:
        yield peer


async def answer(slack: SlackPeer, user: str, question: str) -> SlackMessage:
    ts = slack.say(GENERAL, user, f"{MENTION} {question}")
    replies = lambda: slack.world.replies(GENERAL, ts)  # noqa: E731
    await until(lambda: replies() and replies()[0].metadata)
    return replies()[0]


async def asked_to_keep(slack: SlackPeer, times: int = 1) -> Whisper:
    def questions() -> list[Whisper]:
        return [w for w in slack.house.whispers if "Keep as an answer" in labels(w)]

    await until(lambda: len(questions()) >= times)
    return questions()[-1]


def labels(whisper: Whisper) -> list[str]:
    return [label for label, _ in controls_in(whisper.blocks)]


def cited(message: SlackMessage) -> bool:
    return "blue shed" in message.seen and "Staff answer by cleo" in message.seen


async def test_a_reply_is_kept_cited_as_what_it_is_and_withdrawn(
    library: Path, slack: SlackPeer
) -> None:
    async with running_house(library, **settings(slack)):
        refusal = await answer(slack, ANN, ASKED)
        assert REFUSED in refusal.seen
        thread = refusal.thread_ts or ""
        slack.say(GENERAL, BEN, f"<@{ANN}> I take mine to my room.", thread_ts=thread)
        said = slack.say(GENERAL, CLEO, SAID, thread_ts=thread)
        question = await asked_to_keep(slack)
        assert (question.user, question.thread_ts) == (CLEO, thread)
        assert "everybody here who reads the book “library”" in question.seen
        assert slack.world.replies(GENERAL, thread) == [refusal]  # a reply is no question
        assert not [w for w in slack.house.whispers if w.user != CLEO]
    async with running_house(library, **settings(slack)):  # the button outlives the process
        slack.people.press(CLEO, question, "Keep as an answer")
        slack.people.press(CLEO, question, "Keep as an answer")
        await until(lambda: "Kept until" in question.text or "kept already" in question.text)
        found = await answer(slack, BEN, "Where do I leave a bicycle at night?")
        assert cited(found), found.seen
        assert "<!channel>" not in json.dumps(found.blocks)
        assert f"p{said.replace('.', '')}" in json.dumps(found.blocks)
        slack.edit(GENERAL, said, "Bicycles stay overnight in the green shed by the gate.")
        await slack.heard()
        changed = await answer(slack, ANN, "Where may my bicycle stay at night?")
        assert "green shed" in changed.seen
        assert "Withdraw" in labels(question)
        printed, _ = await footnote("staff", "--json", folder=library)
        [kept] = json.loads(printed)["staff_answers"]
        assert (kept["author"], kept["book_id"]) == ("cleo", "library")
        told, _ = await footnote("staff", "withdraw", kept["id"], folder=library)
        assert WITHDRAWN in told
        gone = await answer(slack, BEN, ASKED)
        assert REFUSED in gone.seen


async def test_admins_see_it_and_a_deleted_message_takes_it_along(
    library: Path, slack: SlackPeer
) -> None:
    async with running_house(library, **settings(slack)) as house:
        refusal = await answer(slack, ANN, ASKED)
        said = slack.say(GENERAL, CLEO, SAID, thread_ts=refusal.thread_ts)
        question = await asked_to_keep(slack)
        slack.people.press(CLEO, question, "Keep as an answer")
        await until(lambda: "Kept until" in question.text)
        assert cited(await answer(slack, BEN, ASKED))
        page = (await house.web.get("/admin/staff")).text
        assert "Staff answer by cleo" in page
        assert "<!channel>" not in page
        [kept] = (await house.web.get("/staff-answers")).json()["staff_answers"]
        there = await house.web.post("/chat/run", json={"message": ASKED})
        assert there.json()["outcome"] == "no_results"  # what a workspace kept is its own
        shared, _ = await footnote("staff", "share", kept["id"], "web", folder=library)
        assert f"slack:{TEAM}, web" in shared
        cites = (await house.web.post("/chat/run", json={"message": ASKED})).json()["citations"]
        assert cites[0]["page_title"].startswith("Staff answer, ")
        assert (cites[0]["page_url"], cites[0]["section_heading"]) == (None, "")
        await footnote("staff", "unshare", kept["id"], folder=library)
        there = await house.web.post("/chat/run", json={"message": ASKED})
        assert there.json()["outcome"] == "no_results"
        assert (await house.web.delete(f"/staff-answers/{uuid4()}")).status_code == 404
        slack.delete(GENERAL, said)
        await slack.heard()
        assert REFUSED in (await answer(slack, BEN, ASKED)).seen
        assert "No answer of the staff" in (await house.web.get("/admin/staff")).text
