"""The doctor tries every token, key and address by itself, and says what to do about each fault."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path

import pytest
from aiohttp import web

from adapters.steward import Finding
from bot.doctor import Doctor
from bot.examination.clock import clock
from bot.examination.look import Check, in_place, side_by_side
from bot.examination.models import strictness
from bot.examination.tokens import of_tokens
from bot.examination.usage import budget_finding, questions_finding
from bot.logs import start_logging
from bot.settings import Settings, read_settings, variables
from rag_core.errors import UpstreamRejected
from rag_core.insight.stats import Tally
from rag_core.storage.engines import examination
from tests.fakes.embedder import WordEmbedder
from tests.flow.running_house import footnote
from tests.peers import cohere, openai
from tests.peers.discord import ME, TOKEN, open_discord_peer
from tests.peers.discord_limits import Trouble
from tests.peers.faults import Status
from tests.peers.loopback import serving
from tests.peers.openai import Says, openai_peer
from tests.peers.slack import APP_TOKEN, BOT_TOKEN, Fault, SlackPeer

SECRET = "0123456789abcdef" * 2
FAILED = 1
Looks = Callable[..., Settings]


@pytest.fixture
def looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Looks:
    """Settings with nothing of the machine's own in them."""
    for variable in variables():
        monkeypatch.delenv(variable, raising=False)

    def read(**values: str) -> Settings:
        monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(tmp_path / "data"))
        for name, value in values.items():
            monkeypatch.setenv(name, value)
        return read_settings(None)

    return read


async def found_by(settings: Settings) -> Mapping[str, Finding]:
    return {
        found.name: found
        for found in await Doctor(settings, tokens=of_tokens(settings)).everything()
    }


async def test_a_profile_that_the_embedder_cannot_reach_is_named(looks: Looks) -> None:
    assert (await found_by(looks(FOOTNOTE_CONFIDENCE_PROFILE="strict")))["confidence profile"]
    finding = await strictness(WordEmbedder())
    assert finding.is_warning
    assert "0.85" in finding.detail
    assert "refused" in finding.detail
    assert "calibrated" in finding.advice
    assert "confidence profile" not in await found_by(looks(FOOTNOTE_CONFIDENCE_PROFILE="simple"))


async def test_a_profile_that_the_embedder_reaches_is_in_place() -> None:
    class SameDirection(WordEmbedder):
        def vector(self, text: str) -> list[float]:
            return [1.0, 0.1] if text.endswith("?") else [1.0, 0.0]

    finding = await strictness(SameDirection())
    assert finding.in_place
    assert not finding.is_warning


def nobody() -> str:
    """An address where every connection is refused."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{held.getsockname()[1]}/"


@asynccontextmanager
async def silence(**headers: str) -> AsyncIterator[str]:
    """A server that answers HEAD with these headers, and everything else not at all."""

    async def head(request: web.Request) -> web.Response:
        return web.Response(headers=headers)

    app = web.Application()
    app.router.add_route("HEAD", "/{tail:.*}", head)
    async with serving(app) as host:
        yield f"http://{host}/"


@contextmanager
def deaf() -> Iterator[str]:
    """A server that takes connections and never says a word."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        held.listen()
        yield f"http://127.0.0.1:{held.getsockname()[1]}/"


async def test_discord_is_content_and_prints_the_link_that_asks_for_exactly_what_is_needed(
    looks: Looks,
) -> None:
    async with open_discord_peer() as peer:
        found = await found_by(looks(DISCORD_BOT_TOKEN=TOKEN, DISCORD_API_BASE=peer.api_base))
        assert all(each.in_place for each in found.values()), found
        link = found["discord invite link"].detail
    assert f"client_id={peer.world.bot.id}" in link
    assert "permissions=309237746688" in link
    assert "999 of 1000" in found["discord new sessions"].detail


async def test_a_public_application_is_warned_of_with_the_steps_that_make_it_private(
    looks: Looks,
) -> None:
    async with open_discord_peer() as peer:
        settings = looks(DISCORD_BOT_TOKEN=TOKEN, DISCORD_API_BASE=peer.api_base)
        assert "discord application" not in await found_by(settings)
        peer.routes.is_public = True
        found = (await found_by(settings))["discord application"]
    assert found.in_place
    assert found.is_warning
    assert "Public Bot" in found.advice
    assert "Install Link" in found.advice


async def test_discord_refuses_the_token(looks: Looks) -> None:
    async with open_discord_peer() as peer:
        settings = looks(DISCORD_BOT_TOKEN="not-the-token", DISCORD_API_BASE=peer.api_base)
        found = (await found_by(settings))["discord token"]
        peer.forgive()
    assert not found.in_place
    assert "DISCORD_BOT_TOKEN" in found.advice


async def test_discord_does_not_let_us_read_and_few_sessions_are_left(looks: Looks) -> None:
    async with open_discord_peer() as peer:
        peer.gateway.allowed.clear()
        peer.routes.sessions_left = 3
        found = await found_by(looks(DISCORD_BOT_TOKEN=TOKEN, DISCORD_API_BASE=peer.api_base))
    assert found["discord token"].in_place
    assert "Message Content Intent" in found["discord message content"].advice
    assert not found["discord message content"].in_place
    assert "restarts" in found["discord new sessions"].advice
    assert not found["discord new sessions"].in_place


@pytest.mark.parametrize("status", [429, 500])
async def test_discord_answers_with_a_trouble(looks: Looks, status: int) -> None:
    async with open_discord_peer() as peer:
        peer.troubles.on(ME, Trouble(status=status))
        settings = looks(DISCORD_BOT_TOKEN=TOKEN, DISCORD_API_BASE=peer.api_base)
        found = (await found_by(settings))["discord token"]
    assert not found.in_place
    assert str(status) in found.detail
    assert "DISCORD_API_BASE" in found.advice


async def test_slack_is_content(looks: Looks) -> None:
    async with SlackPeer() as peer:
        found = await found_by(
            looks(
                SLACK_BOT_TOKEN=BOT_TOKEN,
                SLACK_APP_TOKEN=APP_TOKEN,
                SLACK_SIGNING_SECRET=SECRET,
                SLACK_API_BASE=peer.base,
            )
        )
    assert all(each.in_place for each in found.values()), found
    assert {"slack token", "slack scopes", "slack app token", "slack signing secret"} <= set(found)


async def test_slack_misses_a_scope_and_a_proper_secret(looks: Looks) -> None:
    async with SlackPeer() as peer:
        peer.api.scopes -= {"reactions:write", "im:history"}
        found = await found_by(
            looks(
                SLACK_BOT_TOKEN=BOT_TOKEN,
                SLACK_SIGNING_SECRET="a secret of another kind",
                SLACK_API_BASE=peer.base,
            )
        )
    assert found["slack token"].in_place
    assert found["slack scopes"].detail == "lack im:history, reactions:write."
    assert "install it anew" in found["slack scopes"].advice
    assert "SLACK_SIGNING_SECRET" in found["slack signing secret"].advice
    assert not found["slack signing secret"].in_place


async def test_slack_refuses_both_tokens(looks: Looks) -> None:
    async with SlackPeer() as peer:
        peer.foresees("invalid_auth")
        found = await found_by(
            looks(
                SLACK_BOT_TOKEN="xoxb-of-another-app",
                SLACK_APP_TOKEN="xapp-of-another-app",
                SLACK_API_BASE=peer.base,
            )
        )
    assert "SLACK_BOT_TOKEN" in found["slack token"].detail
    assert "connections:write" in found["slack app token"].advice
    assert not found["slack token"].in_place
    assert not found["slack app token"].in_place


@pytest.mark.parametrize("fault", [Fault.SERVER_ERROR, Fault.GARBAGE, Fault.RESET])
async def test_slack_answers_with_a_trouble(looks: Looks, fault: Fault) -> None:
    async with SlackPeer() as peer:
        peer.fails("auth.test", fault)
        found = await found_by(
            looks(SLACK_BOT_TOKEN=BOT_TOKEN, SLACK_SIGNING_SECRET=SECRET, SLACK_API_BASE=peer.base)
        )
    assert not found["slack token"].in_place
    assert "SLACK_API_BASE" in found["slack token"].advice


@pytest.mark.parametrize(
    ("reply", "advice"),
    [
        (Says("Yes."), ""),
        (openai.Calls((openai.query("help"),)), ""),
        (openai.Status(401), "OPENAI_API_KEY"),
        (openai.Status(400, message="API key not valid. Please pass a valid one."), "API_KEY"),
        (openai.Status(404), "OPENAI_MODEL"),
        (openai.Status(404, message="model 'nope' not found, try pulling it first"), "_MODEL"),
        (openai.Status(400, message="library/tiny does not support tools"), "can call tools"),
        (openai.Status(429, code="insufficient_quota"), "limit"),
        (openai.Status(400, message="Your credit balance is too low."), "limit is used up"),
    ],
)
async def test_the_language_model_answers_or_its_refusal_is_explained(
    looks: Looks, reply: openai.Scripted, advice: str
) -> None:
    async with openai_peer(reply) as peer:
        settings = looks(OPENAI_API_KEY=openai.KEY, OPENAI_BASE_URL=peer.url)
        found = (await found_by(settings))["language model"]
    assert found.in_place == (not advice)
    assert advice in found.advice
    if isinstance(reply, openai.Status):
        assert reply.message in found.detail


async def test_the_language_model_is_tried_with_the_tool_and_few_tokens(looks: Looks) -> None:
    async with openai_peer(openai.Calls((openai.query("help"),))) as peer:
        settings = looks(OPENAI_API_KEY=openai.KEY, OPENAI_BASE_URL=peer.url)
        await found_by(settings)
    (request,) = peer.requests
    assert request["tools"][0]["function"]["name"] == "retrieve_documentation"
    assert request["max_tokens"] <= 500


async def test_the_doctor_names_no_key_that_a_vendor_repeats(looks: Looks) -> None:
    refusal = openai.Status(401, message=f"Incorrect API key provided: {openai.KEY}.")
    async with openai_peer(refusal) as peer:
        settings = looks(OPENAI_API_KEY=openai.KEY, OPENAI_BASE_URL=peer.url)
        found = (await found_by(settings))["language model"]
    assert "Incorrect API key" in found.detail
    assert openai.KEY not in found.detail


async def test_the_doctor_tries_azure_by_its_own_settings(looks: Looks) -> None:
    async with openai_peer(openai.Calls((openai.query("help"),))) as peer:
        azure = {
            "FOOTNOTE_MODEL": "azure",
            "AZURE_OPENAI_ENDPOINT": peer.url.removesuffix("v1"),
            "AZURE_OPENAI_API_KEY": openai.KEY,
            "OPENAI_API_VERSION": "2024-10-21",
        }
        right = await found_by(looks(**azure, AZURE_OPENAI_DEPLOYMENT=openai.MODEL))
        wrong = await found_by(looks(**azure, AZURE_OPENAI_DEPLOYMENT="nowhere"))
    assert right["language model"].in_place
    assert "AZURE_OPENAI_DEPLOYMENT" in wrong["language model"].advice
    assert "deployment does not exist" in wrong["language model"].detail


async def test_a_service_that_nobody_serves_is_named_with_its_variable(looks: Looks) -> None:
    found = await found_by(
        looks(
            OPENAI_BASE_URL=nobody(),
            QDRANT_URL=nobody(),
            DATABASE_URL=f"postgresql://me:hidden@{nobody().split('/')[2]}/footnote",
            COHERE_API_KEY="hidden-too",
            CO_API_URL=nobody(),
        )
    )
    assert "OPENAI_BASE_URL" in found["language model"].advice
    assert "QDRANT_URL" in found["index"].advice
    assert "DATABASE_URL" in found["database"].advice
    assert not any(found[name].in_place for name in ("language model", "index", "database"))


async def test_cohere_answers_or_its_refusal_is_explained(looks: Looks) -> None:
    async with cohere.cohere_peer() as peer:
        settings = looks(
            COHERE_API_KEY=cohere.KEY, CO_API_URL=peer.url, COHERE_RERANK_MODEL="rerank-v3.5"
        )
        found = await found_by(settings)
    assert found["embedder"].in_place
    assert found["reranker"].in_place
    async with cohere.cohere_peer(Status(429)) as peer:
        found = await found_by(looks(COHERE_API_KEY="wrong", CO_API_URL=peer.url))
    assert "COHERE_API_KEY" in found["embedder"].advice
    assert "COHERE_API_KEY" in found["reranker"].advice


async def test_a_qdrant_server_is_known_by_version_and_state(looks: Looks, qdrant_url: str) -> None:
    found = await found_by(looks(QDRANT_URL=qdrant_url, QDRANT_COLLECTION_NAME="nobody-made-me"))
    assert found["index"].in_place
    assert "Qdrant 1." in found["index"].detail
    assert "made at the first start" in found["index"].detail


async def test_a_service_that_never_answers_holds_nothing_up(looks: Looks) -> None:
    with deaf() as address:
        settings = looks(
            DISCORD_BOT_TOKEN=TOKEN,
            DISCORD_API_BASE=address,
            SLACK_BOT_TOKEN=BOT_TOKEN,
            SLACK_SIGNING_SECRET=SECRET,
            SLACK_API_BASE=address,
        )
        checks = [
            Check(name=each.name, look=each.look, advice=each.advice, seconds=0.3)
            for each in of_tokens(settings) * 20
        ]
        found = await side_by_side(checks)
    assert len(found) == 40
    assert {each.in_place for each in found} == {False}
    assert {each.detail for each in found} == {"no answer within 0 s."}


async def test_everything_is_looked_at_side_by_side() -> None:
    """None of these ends before all of them have begun."""
    begun = asyncio.Barrier(3)

    async def look() -> Sequence[Finding]:
        await begun.wait()
        return [Finding(name="one of them", in_place=True, detail="")]

    checks = [Check(name="one of them", look=look, advice="", seconds=30) for _ in range(3)]
    assert all(each.in_place for each in await side_by_side(checks))


async def test_what_one_look_meets_with_leaves_the_others_alone() -> None:
    async def refuses() -> list[Finding]:
        raise UpstreamRejected("a service", "status 401")

    async def answers() -> list[Finding]:
        return [in_place("two", "answers")]

    found = await side_by_side(
        [
            Check(name="one", look=refuses, advice="Do this."),
            Check(name="two", look=answers, advice=""),
        ]
    )
    assert [(each.name, each.in_place, each.advice) for each in found] == [
        ("one", False, "Do this."),
        ("two", True, ""),
    ]


async def test_a_database_that_another_program_holds_is_told(looks: Looks, tmp_path: Path) -> None:
    settings = looks()
    (tmp_path / "data").mkdir()
    with closing(sqlite3.connect(tmp_path / "data" / "footnote.db")) as holder:
        holder.execute("CREATE TABLE kept (id INTEGER)")
        holder.commit()
        assert (await found_by(settings))["database"].in_place
        holder.execute("BEGIN IMMEDIATE")
        found = (await found_by(settings))["database"]
    assert not found.in_place
    assert "holds the write lock" in found.detail
    assert "Find out who holds it" in found.advice


async def test_a_damaged_database_is_told_and_none_is_made_by_looking(
    looks: Looks, tmp_path: Path
) -> None:
    settings = looks()
    assert "made at the first start" in (await found_by(settings))["database"].detail
    file = tmp_path / "data" / "footnote.db"
    assert not file.exists()
    file.write_bytes(b"this is no database" * 100)
    found = (await found_by(settings))["database"]
    assert not found.in_place
    assert "damaged" in found.detail
    assert "footnote restore" in found.advice


async def test_pages_that_were_overwritten_are_a_fault_of_the_database(
    looks: Looks, tmp_path: Path
) -> None:
    settings = looks()
    (tmp_path / "data").mkdir()
    file = tmp_path / "data" / "footnote.db"
    with closing(sqlite3.connect(file)) as writer:
        writer.execute("CREATE TABLE kept (words TEXT)")
        writer.executemany("INSERT INTO kept VALUES (?)", [("x" * 500,)] * 200)
        writer.commit()
    assert (await found_by(settings))["database"].in_place
    content = bytearray(file.read_bytes())
    content[-8192:-4096] = b"\xa5" * 4096
    file.write_bytes(content)
    found = (await found_by(settings))["database"]
    assert not found.in_place
    assert "damaged" in found.detail


def test_a_database_that_takes_long_to_go_through_is_looked_at_for_a_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "footnote.db"
    with closing(sqlite3.connect(file)) as writer:
        writer.execute("PRAGMA ignore_check_constraints = ON")
        # Half a minute of work for whoever goes through it, and none for who writes it.
        writer.execute("CREATE TABLE kept (n CHECK (length(hex(zeroblob(1000000 + n))) > 0))")
        writer.executemany("INSERT INTO kept VALUES (?)", [(n,) for n in range(20_000)])
        writer.commit()
    monkeypatch.setattr(examination, "CHECK_SECONDS", 0.1)
    begun = time.monotonic()
    assert examination.sqlite_facts(file, 1.0).trouble == ""
    assert time.monotonic() - begun < 5


async def test_a_damaged_index_is_the_indexs_fault_alone_and_sends_nobody_to_a_server(
    looks: Looks, tmp_path: Path
) -> None:
    settings = looks()
    index = tmp_path / "data" / "index"
    index.mkdir(parents=True)
    (index / "index.json").write_text("{")
    found = await found_by(settings)
    assert not found["index"].in_place
    assert "move the index's folder away" in found["index"].advice
    assert "footnote restore" in found["index"].advice
    assert "QDRANT" not in found["index"].advice
    assert found["embedder"].in_place


async def test_a_clock_that_is_off_is_found_with_and_without_a_service(
    looks: Looks, tmp_path: Path
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    async with silence(Date="Wed, 21 Oct 2015 07:28:00 GMT") as address:
        [far] = await clock(looks(QDRANT_URL=address), folder)
    assert not far.in_place
    assert "clock" in far.advice
    [alone] = await clock(looks(QDRANT_URL=nobody()), folder)
    assert alone.in_place
    late = folder / "footnote.db"
    late.touch()
    os.utime(late, (time.time() + 3_600,) * 2)
    [back] = await clock(looks(QDRANT_URL=nobody()), folder)
    assert not back.in_place
    assert "behind the newest file" in back.detail


async def test_errors_of_the_last_hour_are_repeated_without_what_they_carry(
    looks: Looks,
) -> None:
    root = logging.getLogger()
    kept, level = root.handlers[:], root.level
    try:
        start_logging("info", "json")
        logging.getLogger("adapters.slack").error("a post was lost", extra={"channel": "C-secret"})
        logging.getLogger("elsewhere").error("a library quotes a secret")
        found = (await found_by(looks()))["last errors"]
    finally:
        root.handlers[:], root.level = kept, level
    assert not found.in_place
    assert "a post was lost" in found.detail
    assert "secret" not in found.detail


def test_a_budget_that_is_used_up_is_told_with_its_variable() -> None:
    used = {("discord", "1"): 900, ("slack", "T1"): 120}
    assert budget_finding(used, 1_000).in_place
    assert "90%" in budget_finding(used, 1_000).detail
    over = budget_finding(used, 900)
    assert not over.in_place
    assert "FOOTNOTE_TENANT_TOKENS_DAY" in over.advice
    assert "1020 tokens" in budget_finding(used, 0).detail


def test_many_failed_answers_are_a_fault_and_few_are_not() -> None:
    few = Tally(questions=20, outcomes={"completed": 19, "error": 1})
    many = Tally(questions=20, outcomes={"completed": 15, "error": 5})
    assert questions_finding(few, 0).in_place
    assert not questions_finding(many, 0).in_place


async def test_the_command_tells_every_fault_and_no_secret_and_fails(tmp_path: Path) -> None:
    secrets = {
        "DISCORD_BOT_TOKEN": "seeded-discord",
        "SLACK_BOT_TOKEN": "xoxb-seeded",
        "SLACK_APP_TOKEN": "xapp-seeded",
        "SLACK_SIGNING_SECRET": "seeded-signing",
        "OPENAI_API_KEY": "sk-seeded",
        "QDRANT_API_KEY": "seeded-qdrant",
        "DATABASE_URL": f"postgresql://me:seeded-word@{nobody().split('/')[2]}/footnote",
    }
    addresses = ("DISCORD_API_BASE", "SLACK_API_BASE", "OPENAI_BASE_URL", "QDRANT_URL")
    settings = secrets | dict.fromkeys(addresses, nobody())
    printed, said = await footnote(
        "doctor", "--json", folder=tmp_path, expect=FAILED, settings=settings
    )
    found = {each["name"]: each for each in json.loads(printed)["findings"]}
    faults = {"database", "index", "language model", "discord token", "slack token", "house"}
    assert {name for name, each in found.items() if not each["in_place"]} >= faults
    assert all(found[name]["advice"] for name in faults)
    assert "seeded" not in printed + said
