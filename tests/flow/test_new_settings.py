"""SIGHUP: secrets are exchanged while the program runs, and no question is lost by it."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

from tests.flow.running_house import PATIENCE, footnote, running_house
from tests.peers.slack import ANN, APP_TOKEN, BOT_TOKEN, GENERAL, MENTION, SlackPeer

PAGE = "# Hours\n\nIn summer the reading room opens at 9:30.\n"
QUESTION = "When does the reading room open in summer?"
NEXT_TOKEN = "xoxb-2-loopback"


def settle(folder: Path, slack: SlackPeer, bot_token: str, *more: str) -> None:
    lines = (
        f"SLACK_BOT_TOKEN={bot_token}",
        f"SLACK_APP_TOKEN={APP_TOKEN}",
        f"SLACK_API_BASE={slack.base}",
        *more,
    )
    (folder / ".env").write_text("\n".join(lines), encoding="utf-8")


async def ask(slack: SlackPeer) -> str:
    return slack.say(GENERAL, ANN, f"{MENTION} {QUESTION}")


async def answers(slack: SlackPeer, thread: str) -> list[str]:
    """What stands in the thread once there is something, and what comes soon after."""
    async with asyncio.timeout(PATIENCE):
        while not slack.world.replies(GENERAL, thread):  # noqa: ASYNC110
            await asyncio.sleep(0.02)  # the bot is another process
    await slack.heard()
    await asyncio.sleep(0.3)  # long enough for a second copy to arrive
    return [message.seen for message in slack.world.replies(GENERAL, thread)]


async def test_secrets_are_exchanged_without_an_end_and_no_question_is_lost(
    tmp_path: Path,
) -> None:
    (tmp_path / "hours.md").write_text(PAGE, encoding="utf-8")
    await footnote("ingest", "hours.md", "--book", "library", folder=tmp_path)
    async with SlackPeer() as slack:
        slack.foresees("invalid_auth")
        settle(tmp_path, slack, BOT_TOKEN)
        async with running_house(tmp_path) as house:
            assert len(await answers(slack, await ask(slack))) == 1

            settle(tmp_path, slack, NEXT_TOKEN, "AGENT_TOP_K=99")
            house.process.send_signal(signal.SIGHUP)
            await house.until_said("settings stay as they were")
            assert len(await answers(slack, await ask(slack))) == 1

            settle(tmp_path, slack, "xoxb-of-nobody")
            house.process.send_signal(signal.SIGHUP)
            await house.until_said("the old ones hold")
            assert len(await answers(slack, await ask(slack))) == 1

            slack.api.tokens = {NEXT_TOKEN: "bot", APP_TOKEN: "app"}
            settle(tmp_path, slack, NEXT_TOKEN)
            house.process.send_signal(signal.SIGHUP)
            during = await ask(slack)
            await house.until_said("web door open", times=3)
            assert len(await answers(slack, during)) == 1
            assert len(await answers(slack, await ask(slack))) == 1
            assert not (await house.web.get("/readyz")).is_error
        assert not any("xoxb" in line for line in house.said)
