"""Slack and the real program: what people do to a question and its answer, through the desk."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import sqlite3
from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.contract.test_forgetting import is_anywhere
from tests.fakes.slack_workspaces import Browser
from tests.flow.running_house import footnote, running_house
from tests.peers.slack import (
    ANN,
    APP_TOKEN,
    BOT_TOKEN,
    CLEO,
    DIRECT,
    GENERAL,
    MENTION,
    SlackMessage,
    SlackPeer,
)
from tests.peers.slack_cloud import ACME, BETA, CLIENT_ID, CLIENT_SECRET, SlackCloud
from tests.peers.slack_house import controls_in
from tests.peers.slack_rules import texts_of

SUMMER = "When does the reading room open in summer?"
WINTER = "When does the reading room open in winter?"
PAGE = (
    "---\ntitle: The reading room\nurl: https://library.example/reading-room\n---\n"
    "# The reading room\n\n## Summer\n\n"
    "In summer the reading room opens at 9:30 and closes at 20:00.\n\n"
    "## Winter\n\nIn winter the reading room opens at 11:15 and closes at 17:00.\n"
)


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    (folder / "pages").mkdir()
    (folder / "pages" / "reading-room.md").write_text(PAGE, encoding="utf-8")
    asyncio.run(footnote("ingest", str(folder / "pages"), "--book", "library", folder=folder))
    return folder


@pytest.fixture
def library(ingested: Path, tmp_path: Path) -> Path:
    return shutil.copytree(ingested, tmp_path / "library")


@pytest.fixture
async def slack() -> AsyncIterator[SlackPeer]:
    async with SlackPeer(ack_seconds=20) as peer:
        yield peer


def settings(slack: SlackPeer) -> dict[str, str]:
    return {
        "SLACK_BOT_TOKEN": BOT_TOKEN,
        "SLACK_APP_TOKEN": APP_TOKEN,
        "SLACK_API_BASE": slack.base,
        "SLACK_ASK_PERSON": CLEO,
    }


async def until(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(40):
        while not condition():  # noqa: ASYNC110 - it is another process
            await asyncio.sleep(0.02)


async def whole(slack: SlackPeer, ts: str, words: str) -> SlackMessage:
    """The one answer in a thread, once it is whole and says this."""
    replies = lambda: slack.world.replies(GENERAL, ts)  # noqa: E731
    await until(lambda: replies() and replies()[0].metadata and words in replies()[0].seen)
    await asyncio.sleep(0.3)  # long enough for a second copy to arrive
    [reply] = replies()
    return reply


async def test_an_edit_is_answered_in_the_same_message_and_a_deletion_takes_it_away(
    library: Path, slack: SlackPeer
) -> None:
    async with running_house(library, **settings(slack)):
        ts = slack.say(GENERAL, ANN, f"{MENTION} {SUMMER}")
        first = await whole(slack, ts, "9:30")
        slack.edit(GENERAL, ts, f"{MENTION} {WINTER}")
        second = await whole(slack, ts, "11:15")
        assert second.ts == first.ts
        slack.delete(GENERAL, ts)
        await until(lambda: not slack.world.replies(GENERAL, ts))


async def test_buttons_work_after_a_kill(library: Path, slack: SlackPeer) -> None:
    async with running_house(library, **settings(slack)) as house:
        ts = slack.say(GENERAL, ANN, f"{MENTION} {SUMMER}")
        reply = await whole(slack, ts, "9:30")
        await house.kill()
    async with running_house(library, **settings(slack)):
        assert list(dict(controls_in(reply.blocks))) == [
            "Helpful",
            "Not helpful",
            "Show evidence",
            "Ask a person",
            "Delete",
        ]
        slack.people.press(ANN, reply, "Show evidence")
        await until(lambda: any("opens at 9:30" in told for told in slack.house.told(ANN)))
        slack.people.press(ANN, reply, "Not helpful")
        await until(lambda: bool(slack.house.views))
        slack.people.submit(ANN, slack.house.views[0], "It is out of date.")
        await slack.heard()
        slack.people.press(ANN, reply, "Delete")
        await until(lambda: not slack.world.replies(GENERAL, ts))


async def test_a_process_that_is_killed_while_it_streams_leaves_one_answer(
    library: Path, slack: SlackPeer
) -> None:
    slack.foresees("streaming_state_conflict", "message_not_in_streaming_state")
    async with running_house(library, **settings(slack)) as house:
        asked = [slack.say(GENERAL, ANN, f"{MENTION} {SUMMER}") for _ in range(4)]
        await until(lambda: bool(slack.calls("chat.startStream")))
        await house.kill()
    async with running_house(library, **settings(slack)):
        for ts in asked:
            await whole(slack, ts, "9:30")


async def test_commands_pane_and_home_speak_of_the_real_house(
    library: Path, slack: SlackPeer
) -> None:
    slack.world.channels[DIRECT].members.add(CLEO)
    async with running_house(library, **settings(slack)):
        slack.people.command(ANN, "/ask", SUMMER, GENERAL)
        await until(lambda: any("9:30" in told for told in slack.house.told(ANN)))
        said = {}
        for words in ("/lookup winter hours", "/footnote books", "/footnote doctor"):
            name, _, text = words.partition(" ")
            command = slack.people.command(CLEO, name, text, GENERAL)
            await slack.heard()
            assert command.response is not None, words
            said[words] = "\n".join(texts_of(command.response.get("blocks") or ()))
        assert "11:15" in said["/lookup winter hours"]
        assert "`library`" in said["/footnote books"]
        assert "slack" in said["/footnote doctor"]
        thread = slack.people.open_pane(ANN)
        await until(lambda: (DIRECT, thread) in slack.house.prompts)
        slack.people.open_home(CLEO)
        await until(lambda: CLEO in slack.house.homes)
        assert "What needs attention" in json.dumps(slack.house.homes[CLEO])


async def test_two_workspaces_install_the_program_and_outlive_its_restart(
    library: Path,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    base = f"http://127.0.0.1:{port}"
    async with SlackCloud(ACME, BETA, ack_seconds=20) as cloud:
        cloud.redirect_uri = f"{base}/slack/oauth_redirect"
        given = {
            "SLACK_CLIENT_ID": CLIENT_ID,
            "SLACK_CLIENT_SECRET": CLIENT_SECRET,
            "SLACK_APP_TOKEN": APP_TOKEN,
            "SLACK_API_BASE": cloud.base,
            "FOOTNOTE_PUBLIC_URL": base,
            "FOOTNOTE_WEB_PORT": str(port),
            "FOOTNOTE_SECRET_KEYS": b64encode(b"k" * 32).decode(),
        }
        browser = Browser(base, cloud)
        async with browser.client, running_house(library, **given):
            assert (await browser.installs(ACME)).status_code == 200
            refused = await browser.installs(BETA)
            assert refused.status_code == 403
            assert f"footnote servers allow {BETA}" in refused.text
            printed, _ = await footnote("servers", "allow", BETA, folder=library, settings=given)
            assert printed.startswith(f"slack {BETA} {BETA} & <Sons>: allowed since ")
            assert (await browser.installs(BETA)).status_code == 200
        assert not is_anywhere(library, "CANARY")
        async with running_house(library, **given):
            told, _ = await footnote(
                "doctor", "--json", folder=library, settings=given, expect=None
            )
            of_slack = [f for f in json.loads(told)["findings"] if f["name"].startswith("slack")]
            assert all(finding["in_place"] for finding in of_slack), of_slack
            for team in (ACME, BETA):
                assert f"slack {team} & <Sons> ({team})" in [found["name"] for found in of_slack]
            for team in (ACME, BETA):
                world = cloud.workspaces[team].world
                ts = cloud.workspaces[team].say(GENERAL, ANN, f"{MENTION} {SUMMER}")
                await until(
                    lambda world=world, ts=ts: any(
                        "9:30" in reply.seen for reply in world.replies(GENERAL, ts)
                    )
                )
            cloud.uninstall(ACME)
            await until(lambda: tenants(library) == [BETA])


def tenants(library: Path) -> list[str]:
    with closing(sqlite3.connect(library / "data" / "footnote.db")) as database:
        return [row[0] for row in database.execute("SELECT tenant FROM installations")]
