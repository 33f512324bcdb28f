"""Two programs, each on a host of its own, over one PostgreSQL and one Qdrant server."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from rag_core.storage.engines.codec import to_time
from tests.flow.running_house import PATIENCE, RunningHouse, footnote, running_house
from tests.peers.slack import ANN, APP_TOKEN, BEN, BOT_TOKEN, GENERAL, MENTION, SlackPeer

PAGE = "# Hours\n\nIn summer the reading room opens at 9:30.\n"
QUESTION = "When does the reading room open in summer?"
QUESTIONS = 8
KILLED_AT = 2
WHOLE = os.environ.get("FOOTNOTE_TESTS") == "full"
"""Then the lease of the killed host really runs out; otherwise the clock is set forward."""
LEASE_SECONDS = 65.0


def answered(slack: SlackPeer, asked: str) -> bool:
    return any("9:30" in reply.seen for reply in slack.world.replies(GENERAL, asked))


async def until_answered(slack: SlackPeer, asked: list[str], seconds: float = PATIENCE) -> None:
    async with asyncio.timeout(seconds):
        while not all(answered(slack, each) for each in asked):  # noqa: ASYNC110
            await asyncio.sleep(0.05)  # the bots are other processes


async def either(*awaited: Coroutine[Any, Any, object]) -> None:
    """Wait for whichever ends first, and give the others up."""
    tasks = [asyncio.create_task(each) for each in awaited]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


def done_by(house: RunningHouse) -> int:
    return sum("answer delivered" in line for line in house.said)


async def let_leases_run_out(url: str) -> None:
    """As if so much time had passed: nobody renews what the killed host had claimed."""
    if WHOLE:
        return
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(
            "UPDATE threads SET lease_until = $1 WHERE worker IS NOT NULL",
            to_time(datetime.now(UTC)),
        )
    finally:
        await connection.close()


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
async def test_questions_spread_over_two_hosts_and_the_one_that_is_left_takes_over(
    tmp_path: Path, empty_url: str, qdrant_url: str
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    (first / "hours.md").write_text(PAGE, encoding="utf-8")
    async with SlackPeer(ack_seconds=5.0) as slack:
        slack.foresees("streaming_state_conflict", "message_not_in_streaming_state")
        settings = {
            "DATABASE_URL": empty_url,
            "QDRANT_URL": qdrant_url,
            "QDRANT_COLLECTION_NAME": "several-hosts",
            "FOOTNOTE_ANSWER_SECONDS": "5",
            "FOOTNOTE_PARALLEL_ANSWERS": "1",  # so that neither host has hands for all of them
            "SLACK_BOT_TOKEN": BOT_TOKEN,
            "SLACK_APP_TOKEN": APP_TOKEN,
            "SLACK_API_BASE": slack.base,
        }
        await footnote("ingest", "hours.md", "--book", "hours", folder=first, settings=settings)
        dies = settings | {"FOOTNOTE_FAILPOINT": f"settle.before:{KILLED_AT}"}
        async with running_house(first, **dies) as one, running_house(second, **settings) as two:
            async with asyncio.timeout(PATIENCE):
                while len(slack.sockets.sockets) < 2:  # noqa: ASYNC110 - opened elsewhere
                    await asyncio.sleep(0.02)
            asked = [
                slack.say(GENERAL, (ANN, BEN)[number % 2], f"{MENTION} {QUESTION}")
                for number in range(QUESTIONS)
            ]
            async with asyncio.timeout(PATIENCE):
                while one.process.returncode is None:  # a quick host may have answered them all
                    asked.append(slack.say(GENERAL, ANN, f"{MENTION} {QUESTION}"))
                    await either(one.process.wait(), until_answered(slack, asked[-1:]))
            await let_leases_run_out(empty_url)
            await until_answered(slack, asked, LEASE_SECONDS + PATIENCE)
            await slack.heard()
            assert done_by(one) > 0
            assert done_by(two) > 0
        for each in asked:
            said = [reply.seen for reply in slack.world.replies(GENERAL, each)]
            assert len([text for text in said if "9:30" in text]) == 1, said
