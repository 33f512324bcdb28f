"""Where faults are tried: the real program between strict stand-ins, killed and begun anew."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any

import httpx

from tests.faults.answering_model import AnsweringModel, answering_model
from tests.faults.reading import (
    KEY_FORM,
    SHOWN,
    STORED,
    copied,
    key_from,
    rows_of_postgres,
    rows_of_sqlite,
    stored_from,
)
from tests.faults.record import Posted, Record, Sent, Stored
from tests.flow.running_house import environment, footnote
from tests.peers.discord import TOKEN, DiscordPeer, open_discord_peer
from tests.peers.discord_world import Channel, Person
from tests.peers.openai import KEY
from tests.peers.slack import ANN, APP_TOKEN, BEN, BOT_TOKEN, BOT_USER, MENTION, TEAM, SlackPeer
from tests.peers.slack_world import SlackChannel

QUESTION = "When does the reading room open in summer?"
PAGE = (
    "---\ntitle: The reading room\nurl: https://library.example/reading-room\n---\n"
    "# The reading room\n\n## Summer\n\n"
    "In summer the reading room opens at 9:30 and closes at 20:00.\n"
)
READY_SECONDS = 60.0
AGAIN = (0.0, 1.0, 1.0, 2.0, 4.0, 8.0, *(15.0 for _ in range(100)))
"""Stand-ins deliver again until they are heard: how often Slack does is for its own tests."""


@dataclass
class House:
    """One process of the program."""

    process: asyncio.subprocess.Process
    log: Path
    began: float = field(default_factory=monotonic)

    @property
    def is_alive(self) -> bool:
        return self.process.returncode is None

    async def ready(self) -> float:
        """Seconds from its start until it said that it is ready."""
        async with asyncio.timeout(READY_SECONDS):
            async with httpx.AsyncClient(base_url=await self.address(), timeout=5) as web:
                while not await is_ready(web):  # noqa: ASYNC110 - it is another process
                    await asyncio.sleep(0.05)
        return monotonic() - self.began

    async def address(self) -> str:
        """Where its web door is, once it is open."""
        while self.is_alive:
            for line in self.log.read_text(encoding="utf-8").splitlines():
                if line.startswith("{") and '"address"' in line:
                    return str(json.loads(line)["address"])
            await asyncio.sleep(0.05)
        raise AssertionError(f"the program ended: {self.log.read_text(encoding='utf-8')[-2000:]}")

    def said(self, words: str) -> list[str]:
        """The lines of its log that hold these words."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return [line for line in lines if words in line]

    async def kill(self) -> None:
        if self.is_alive:
            self.process.kill()
        await self.process.wait()

    async def terminate(self, *, within: float = 20.0) -> tuple[int | None, float]:
        """Its exit code, and how long it took; None where it had to be killed."""
        began = monotonic()
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(within):
                code = await self.process.wait()
        except TimeoutError:
            await self.kill()
            return None, monotonic() - began
        return code, monotonic() - began


async def is_ready(web: httpx.AsyncClient) -> bool:
    """Whether all is in place. That a question has been open for long is told there as well, and
    comes of the faults themselves where a row takes its time."""
    try:
        answer = await web.get("/readyz")
    except httpx.TransportError:
        return False
    checks = answer.json()["checks"]
    return all(there for name, there in checks.items() if name != "oldest question")


@dataclass
class Yard:
    """One workspace with many channels, a model, and the program's folder."""

    folder: Path
    slack: SlackPeer
    model: AnsweringModel
    random: Random
    database: str | None = None
    settings: dict[str, str] = field(default_factory=dict)
    discord: DiscordPeer | None = None
    sent: list[Sent] = field(default_factory=list)
    houses: list[House] = field(default_factory=list)
    seen_from: Path = Path("/")
    """Where the folder is looked for: a process may see a disk there that we do not."""
    _heads: dict[tuple[str, str], str] = field(default_factory=dict)

    def channels(self, number: int) -> list[str]:
        """So many places to ask in: Slack takes about one message a second in each."""
        names = [f"C1{at:07d}" for at in range(number)]
        for name in names:
            self.slack.world.channels.setdefault(
                name, SlackChannel(name, "channel", {ANN, BEN, BOT_USER})
            )
        return names

    def ask(
        self,
        channel: str,
        thread: str = "",
        *,
        user: str = ANN,
        text: str = QUESTION,
        head: str | None = None,
    ) -> Sent:
        """Somebody asks; the first question of a thread begins it, `head` is one that is there."""
        canary = f"canary-{self.random.getrandbits(32):08x}"
        head = self._heads.get((channel, thread)) if thread else head
        ts = self.slack.say(channel, user, f"{MENTION} {text} {canary}", head)
        if thread:
            self._heads.setdefault((channel, thread), ts)
        sent = Sent(message_id=ts, place=("slack", channel, head or ts), canary=canary)
        self.sent.append(sent)
        return sent

    async def ask_in_discord(self, channel: Channel, person: Person, *, new: bool) -> Sent:
        """Somebody asks in a channel, or further in a thread that the bot has made there."""
        assert self.discord is not None
        canary = f"canary-{self.random.getrandbits(32):08x}"
        text = f"{QUESTION} {canary}"
        note = await self.discord.say(channel, person, text, mentions_bot=new)
        home = channel.parent or channel
        place = ("discord", str(home.id), str(note.id if new else channel.id))
        sent = Sent(message_id=str(note.id), place=place, canary=canary)
        self.sent.append(sent)
        return sent

    def take_back(self, sent: Sent) -> None:
        """Its asker wants no answer any more."""
        at = next(at for at in reversed(range(len(self.sent))) if self.sent[at] is sent)
        self.sent[at] = replace(sent, withdrawn=True)

    async def start(
        self, *, data: str = "data", within: Sequence[str] = (), **settings: str
    ) -> House:
        """A process of the program; `within` is a command that begins it in its own place."""
        number = len(self.houses)
        log = self.folder / f"house-{number}.log"
        with log.open("w") as errors:
            process = await asyncio.create_subprocess_exec(
                *within,
                sys.executable,
                "-m",
                "bot",
                "run",
                cwd=self.folder,
                env=environment(self.folder, self.environment(data) | settings),
                stdout=asyncio.subprocess.DEVNULL,
                stderr=errors,
            )
        house = House(process, log)
        self.houses.append(house)
        return house

    def environment(self, data: str = "data") -> dict[str, str]:
        chosen = {
            "FOOTNOTE_DATA_DIR": str(self.folder / data),
            "SLACK_BOT_TOKEN": BOT_TOKEN,
            "SLACK_APP_TOKEN": APP_TOKEN,
            "SLACK_API_BASE": self.slack.base,
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": self.model.url,
            "FOOTNOTE_EMBEDDER": "local",
            "FOOTNOTE_DEFAULT_BOOK": "library",
            "FOOTNOTE_USER_QUESTIONS_HOUR": "0",
            "FOOTNOTE_CHANNEL_QUESTIONS_DAY": "0",
            "FOOTNOTE_QUEUE_QUESTIONS": "100000",
            "FOOTNOTE_FREE_SPACE_MB": "0",
        }
        if self.discord is not None:
            chosen |= {
                "DISCORD_BOT_TOKEN": TOKEN,
                "DISCORD_API_BASE": self.discord.api_base,
                "DISCORD_GATEWAY_URL": self.discord.gateway_url,
            }
        return chosen | ({"DATABASE_URL": self.database} if self.database else {}) | self.settings

    @property
    def data(self) -> Path:
        return self.seen_from / str(self.folder / "data").lstrip("/")

    @property
    def file(self) -> Path:
        return self.data / "footnote.db"

    def open_work(self) -> int:
        """How many questions the database holds that are not ended."""
        return int(self.rows("SELECT count(*) AS n FROM questions WHERE closed_at IS NULL")[0]["n"])

    def accepted(self) -> int:
        return int(self.rows("SELECT count(*) AS n FROM questions")[0]["n"])

    def rows(self, query: str) -> Sequence[Mapping[str, Any]]:
        """What the database says, read beside the program."""
        if self.database is not None:
            with ThreadPoolExecutor(1) as aside:
                return aside.submit(asyncio.run, rows_of_postgres(self.database, query)).result()
        if self.seen_from == Path("/"):
            return rows_of_sqlite(self.file, query)
        # SQLite follows the way to the file in our own eyes, so it is given a copy.
        return rows_of_sqlite(copied(self.file, self.folder / "seen"), query)

    async def until_ended(self, *, within: float) -> bool:
        """Whether every question that was asked was accepted and ended in time."""
        until = monotonic() + within
        while monotonic() < until:
            if self.accepted() >= len(self.sent) and not self.open_work():
                return True
            await asyncio.sleep(0.1)
        return False

    def record(self) -> Record:
        """What was sent, what is shown, and what is stored."""
        return Record(
            sent=self.sent,
            posted=self.posted(),
            stored=self.stored(),
            prompts=[call.canaries for call in self.model.calls],
        )

    def posted(self) -> list[Posted]:
        return [*self._posted_in_slack(), *self._posted_in_discord()]

    def _posted_in_discord(self) -> list[Posted]:
        """Everything that the bot has left there: parts by their keys, and lines that showed
        progress and became a part by the id that is stored for it."""
        if self.discord is None:
            return []
        known = {row["external_id"]: key_from(row) for row in self.rows(SHOWN)}
        bot = self.discord.world.bot
        return [
            Posted(
                key=str(note.nonce)
                if KEY_FORM.fullmatch(str(note.nonce))
                else known.get(str(note.id), "none"),
                place=("discord", str((channel.parent or channel).id), str(channel.id)),
            )
            for channel in self.discord.world.channels.values()
            for note in channel.notes
            if note.author is bot
        ]

    def _posted_in_slack(self) -> list[Posted]:
        shown = sorted(self.slack.world.everything_of_the_bot(), key=lambda message: message.ts)
        return [
            Posted(
                key=str((message.metadata or {}).get("event_payload", {}).get("key", "none")),
                place=("slack", message.channel, message.thread_ts or message.ts),
            )
            for message in shown
        ]

    def stored(self) -> list[Stored]:
        return [stored_from(row) for row in self.rows(STORED)]


@contextlib.asynccontextmanager
async def yard(
    folder: Path,
    *,
    seed: int,
    model_seconds: float = 0.0,
    with_discord: bool = False,
    database: str | None = None,
    settings: Mapping[str, str] | None = None,
) -> AsyncIterator[Yard]:
    """Stand-ins and a folder in which one page has been read; every process ends with it."""
    (folder / "pages").mkdir(parents=True)
    (folder / "pages" / "reading-room.md").write_text(PAGE, encoding="utf-8")
    async with contextlib.AsyncExitStack() as stack:
        model = await stack.enter_async_context(answering_model(seconds=model_seconds))
        slack = await stack.enter_async_context(SlackPeer(ack_seconds=3.0, pauses=AGAIN))
        slack.foresees("ratelimited", "streaming_state_conflict", "message_not_in_streaming_state")
        made = Yard(folder, slack, model, Random(seed), database=database)
        made.settings |= settings or {}
        await footnote(
            *("ingest", str(folder / "pages"), "--book", "library", "--json"),
            folder=folder,
            settings=made.environment(),
        )
        # Every process on a shared database has a folder of its own, with an index of its own.
        shutil.copytree(folder / "data", folder / "data-2")
        if with_discord:
            made.discord = await stack.enter_async_context(open_discord_peer())
        try:
            yield made
        finally:
            for house in made.houses:
                await house.kill()
    if not os.environ.get("FOOTNOTE_KEEP_YARD"):
        shutil.rmtree(folder, ignore_errors=True)


__all__ = ["QUESTION", "TEAM", "House", "Yard", "yard"]
