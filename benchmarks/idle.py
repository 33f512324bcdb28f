"""What the program costs before anybody asks: `python -m benchmarks.idle`.

Everything is on: Slack, Discord, the web door, the local model, the embedded index with a book.
The bare limit is a process that imports the same libraries, opens a SQLite file and does nothing;
after its first embedding it holds the same model too. Memory is all that is resident, as `ps` and
`top` show it: libraries and what is read of the index's files included.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.memory import mapped_kilobytes, processor_seconds, resident_kilobytes
from tests.flow.running_house import footnote, running_house
from tests.peers.discord import TOKEN, DiscordPeer, open_discord_peer
from tests.peers.slack import APP_TOKEN, BOT_TOKEN, SlackPeer

ROUNDS = 3
REST_SECONDS = 1.0
PAGE = "# The reading room\n\nIn summer the reading room opens at 9:30 and closes at 20:00.\n"
QUESTION = "When does the reading room open in summer?"
BARE = """
import asyncio, json, sqlite3, sys, time
import alembic.command, aiosqlite, discord, fastapi, httpx, numpy, qdrant_edge
import pydantic_settings, slack_bolt.app.async_app, sqlalchemy.ext.asyncio, uvicorn
from pathlib import Path
from benchmarks.memory import processor_seconds, resident_kilobytes
held = sqlite3.connect(":memory:")
before = processor_seconds(), resident_kilobytes()
from rag_core.providers.embedders.granite import Granite
Granite().embed([0, *range(100, 110), 2])
print(json.dumps([*before, resident_kilobytes()]))
"""


@dataclass(frozen=True)
class Cost:
    """Processor seconds until ready, and megabytes before and after the first embedding."""

    ready: float
    before: float
    after: float
    mapped: float = 0.0
    """Megabytes of the index's files, which are in the second of the two."""


async def main() -> None:
    with tempfile.TemporaryDirectory(prefix="footnote-benchmark-") as name:
        folder = Path(name)
        (folder / "room.md").write_text(PAGE, encoding="utf-8")
        await footnote("ingest", "room.md", "--book", "library", folder=folder)
        bare, ours = [], []
        async with SlackPeer() as slack, open_discord_peer() as discord:
            for _ in range(ROUNDS):
                bare.append(bare_cost())
                ours.append(await our_cost(folder, slack, discord))
    help_seconds = median(help_cost() for _ in range(ROUNDS))
    row("processor seconds to ready", [c.ready for c in bare], [c.ready for c in ours], "1.8")
    row("MB before the first embedding", [c.before for c in bare], [c.before for c in ours], "190")
    row("MB after it", [c.after for c in bare], [c.after for c in ours], "260")
    print(f"{'of these, of the files of the index':<36} {median(c.mapped for c in ours):20.2f}")
    print(f"{'footnote --help, processor seconds':<36} {help_seconds:8.2f} (wanted: at most 0.3)")


def row(what: str, bare: list[float], ours: list[float], wanted: str) -> None:
    held = f"bare {median(bare):7.2f}   ours {median(ours):7.2f}"
    print(f"{what:<36} {held}   (wanted: at most {wanted})")


def bare_cost() -> Cost:
    told = subprocess.run([sys.executable, "-c", BARE], check=True, capture_output=True, text=True)
    ready, before, after = json.loads(told.stdout)
    return Cost(ready, before / 1024, after / 1024)


async def our_cost(folder: Path, slack: SlackPeer, discord: DiscordPeer) -> Cost:
    async with running_house(
        folder,
        SLACK_BOT_TOKEN=BOT_TOKEN,
        SLACK_APP_TOKEN=APP_TOKEN,
        SLACK_API_BASE=slack.base,
        DISCORD_BOT_TOKEN=TOKEN,
        DISCORD_API_BASE=discord.api_base,
        DISCORD_GATEWAY_URL=discord.gateway_url,
    ) as house:
        ready = processor_seconds(house.process.pid)
        await asyncio.sleep(REST_SECONDS)
        before = resident_kilobytes(house.process.pid)
        await house.ask(message=QUESTION)
        await asyncio.sleep(REST_SECONDS)
        mapped = mapped_kilobytes(house.process.pid, folder)
        after = resident_kilobytes(house.process.pid)
    return Cost(ready, before / 1024, after / 1024, mapped / 1024)


def help_cost() -> float:
    script = (
        "import contextlib, sys, time\n"
        "from bot.cli import app\n"
        "with contextlib.suppress(SystemExit): app(['--help'])\n"
        "print(time.process_time(), file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    return float(ran.stderr)


if __name__ == "__main__":
    asyncio.run(main())
