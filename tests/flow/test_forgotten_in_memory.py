"""Who is forgotten is gone from the memory of the process too; others stay."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.discord.client import DiscordPlatform
from bot.services import Services
from bot.settings import Settings, read_settings
from bot.steward import HouseSteward
from bot.wiring import open_services
from rag_core.conversation.key import Platform, TenantId
from rag_core.desk.incoming import IncomingQuestion
from rag_core.ingestion.pipeline import IngestionRequest
from tests.builders import a_key, a_question
from tests.fakes.slack_desk import desk_that_answers
from tests.fakes.slack_house import settled, slack_at_work
from tests.flow.discord_flow import on_a_course
from tests.peers.slack import ANN, BEN, GENERAL, MENTION, SlackPeer
from tests.remembered import function_caches, holds

WORDS = "Where did Hedwig hide the silver spoons?"
PERSON = "web-hedwig"
SPARED = "Does Ottokar polish the kettle?"


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(tmp_path / "data"))
    return read_settings(None)


@pytest.fixture
async def services(settings: Settings, tmp_path: Path) -> AsyncIterator[Services]:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "spoons.md").write_text("# Spoons\n\nThe spoons are in the attic.\n")
    settings.data_dir.mkdir()
    async with open_services(settings, settings.data_dir) as opened:
        request = IngestionRequest(book_id="house", sources=(str(tmp_path / "docs"),))
        await opened.ingestion.wait((await opened.ingestion.start(request)).job_id)
        yield opened


async def answer(services: Services, *questions: IncomingQuestion) -> None:
    """Have all of them answered."""
    worker = services.worker(services.own_outlets)
    async with asyncio.TaskGroup() as tasks:
        working = tasks.create_task(worker.run())
        for question in questions:
            await services.desk.accept(question)
        while await services.stores.ledger.waiting():  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.01)
        worker.stop()
        await working


def web_question(text: str, person: str, thread: str) -> IncomingQuestion:
    return a_question(text, key=a_key(thread, platform=Platform.WEB), asker_id=person)


async def test_caches_hold_nothing_of_a_person_who_is_forgotten(services: Services) -> None:
    await answer(
        services, web_question(WORDS, PERSON, "own"), web_question(SPARED, "web-ottokar", "other")
    )
    roots = (services, *function_caches())
    assert holds("Hedwig", services), "this would show nothing"
    assert holds("Hedwig", *function_caches())
    steward = HouseSteward(services)
    await steward.forget(platform=Platform.WEB, tenant=TenantId("local"), asker_id=PERSON)
    assert not holds("Hedwig", *roots)
    assert not holds("silver", *roots)
    assert not holds(PERSON, *roots)
    await answer(services, web_question(SPARED, "web-ottokar", "third"))


async def test_an_answer_that_is_being_written_to_a_forgotten_question_ends(
    services: Services, caplog: pytest.LogCaptureFixture
) -> None:
    begun = asyncio.Event()

    async def work() -> None:
        with services.bell.answering(receipt.question_id):
            begun.set()
            await asyncio.Event().wait()

    receipt = await services.desk.accept(web_question(WORDS, PERSON, "own"))
    working = asyncio.create_task(work())
    await begun.wait()
    await services.forgetting.person(platform=Platform.WEB, asker_id=PERSON)
    (end,) = await asyncio.gather(working, return_exceptions=True)
    assert "taken back" in str(end)


async def test_slack_holds_nothing_of_a_person_who_is_forgotten() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk) as platform:
        peer.say(GENERAL, BEN, f"{MENTION} {WORDS}")
        peer.say(GENERAL, ANN, f"{MENTION} {SPARED}")
        await settled(peer, desk)
        assert holds(WORDS, platform), "this would show nothing"
        assert holds(BEN, platform)
        platform.forget(BEN)
        assert not holds(WORDS, platform)
        assert not holds(BEN, platform)
        assert holds(SPARED, platform), "others are not forgotten"
        platform.forget(None)
        assert not holds(SPARED, platform)
        assert not holds(ANN, platform)


async def test_discord_holds_nothing_of_a_person_who_is_forgotten() -> None:
    async with on_a_course() as course:
        await course.peer.say(course.channel, course.bob, WORDS, mentions_bot=True)
        await course.peer.say(course.channel, course.alice, SPARED, mentions_bot=True)
        await course.answered(2)
        platform, (bob, alice) = course.platform, (str(course.bob.id), str(course.alice.id))
        assert isinstance(platform, DiscordPlatform)
        listener = platform._works.listener
        assert holds(bob, listener), "this would show nothing"
        platform.forget(bob)
        assert not holds(bob, listener)
        assert holds(alice, listener), "others are not forgotten"
        platform.forget(None)
        assert not holds(alice, listener)
