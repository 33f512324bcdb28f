"""What admins see and do from a chat is what the house really holds."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from adapters.steward import Finding
from bot.services import Services
from bot.settings import Settings, read_settings
from bot.steward import HouseSteward
from bot.wiring import open_services
from rag_core.books.library import Library
from rag_core.books.policy import ChannelPolicy, Place
from rag_core.conversation.key import Platform, TenantId
from rag_core.errors import InvalidQuestion
from rag_core.ingestion.pipeline import IngestionRequest
from rag_core.storage.engines.codec import to_time
from rag_core.storage.engines.database import open_database
from rag_core.storage.ledger.token_usage import ADD_TOKENS

TENANT = TenantId("guild-1")
CHANNEL = Place(platform=Platform.DISCORD, tenant=TENANT, channel_id="channel-1")
SERVER = Place(platform=Platform.DISCORD, tenant=TENANT)
ELSEWHERE = Place(platform=Platform.DISCORD, tenant=TenantId("guild-2"), channel_id="channel-1")


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(tmp_path / "data"))
    return read_settings(None)


@pytest.fixture
async def services(settings: Settings, tmp_path: Path) -> AsyncIterator[Services]:
    lesson = tmp_path / "docs" / "module-1" / "chapter-1" / "01-limits.md"
    lesson.parent.mkdir(parents=True)
    lesson.write_text("# Limits\n\nTen requests a day are allowed.\n")
    settings.data_dir.mkdir()
    async with open_services(settings, settings.data_dir) as opened:
        request = IngestionRequest(book_id="course", sources=(str(tmp_path / "docs"),))
        await opened.ingestion.wait((await opened.ingestion.start(request)).job_id)
        yield opened


async def test_books_modules_and_jobs_are_the_houses(services: Services) -> None:
    steward = HouseSteward(services)

    assert [book.book_id for book in await steward.books(CHANNEL)] == ["course"]
    assert await steward.modules(CHANNEL) == ["module-1"]
    assert [job.files_processed for job in await steward.jobs(CHANNEL)] == [1]
    assert await steward.gaps(CHANNEL) == []


async def test_a_policy_holds_where_it_was_set_and_below(services: Services) -> None:
    steward = HouseSteward(services)

    await steward.set_policy(SERVER, ChannelPolicy(book_id="course", hint_only=True))
    await steward.set_policy(CHANNEL, ChannelPolicy(auto_answer=True))

    policy = await steward.policy(CHANNEL)
    assert (policy.books, policy.hint_only, policy.auto_answer) == (("course",), True, True)


async def test_a_book_that_is_not_there_binds_nothing(services: Services) -> None:
    steward = HouseSteward(services)

    with pytest.raises(InvalidQuestion, match="no book 'corse'"):
        await steward.set_policy(SERVER, ChannelPolicy(book_id="corse"))

    assert (await steward.policy(SERVER)).books == ()


def closing(services: Services, *book_ids: str, default_book: str | None = None) -> Services:
    """The same house with these books closed."""
    settings = services.settings.model_copy(update={"closed_books": ",".join(book_ids)})
    library = Library(
        books=services.stores.books,
        policies=services.stores.policies,
        default_book=default_book,
        closed_books=settings.books_closed,
    )
    return replace(services, settings=settings, library=library)


async def test_a_closed_book_is_there_only_where_the_operator_bound_it(services: Services) -> None:
    house = closing(services, "staff", "course", default_book="course")
    steward = HouseSteward(house)
    channel = ChannelPolicy(book_id="course", operator_books=("course",))
    with pytest.raises(InvalidQuestion, match=r"no book 'course'\. Books: none yet\."):
        await steward.set_policy(CHANNEL, channel)
    with pytest.raises(InvalidQuestion, match=r"no book 'cours'\. Books: none yet\."):
        await steward.set_policy(CHANNEL, ChannelPolicy(book_id="cours"))
    assert await steward.books(CHANNEL) == await steward.jobs(CHANNEL) == []

    await house.library.bind(
        platform=Platform.DISCORD, channel_id="channel-1", book_ids=["course"], tenant=TENANT
    )
    await steward.set_policy(CHANNEL, ChannelPolicy(book_id="course", tone="calm"))
    assert [book.book_id for book in await steward.books(CHANNEL)] == ["course"]
    assert len(await steward.jobs(CHANNEL)) == 1
    assert "book course" in {found.name for found in await steward.findings(CHANNEL)}
    for place in (SERVER, replace(CHANNEL, channel_id="channel-2"), ELSEWHERE):
        with pytest.raises(InvalidQuestion, match="no book 'course'"):
            await steward.set_policy(place, channel)
        assert await steward.books(place) == await steward.jobs(place) == []
        told = await steward.findings(place)
        assert "course" not in repr([each for each in told if "courses" not in each.detail])


class Examined:
    """A platform that misses a right."""

    platform = Platform.DISCORD

    async def findings(self, *, tenant: TenantId | None = None) -> list[Finding]:
        assert tenant == TENANT
        return [Finding(name="channel #help", in_place=False, detail="cannot post", advice="Allow")]


async def test_findings_are_the_houses_and_those_of_the_platform_that_asks(
    services: Services,
) -> None:
    steward = HouseSteward(services)
    steward.greet(Examined())

    there = await steward.findings(CHANNEL)
    elsewhere = await steward.findings(replace(CHANNEL, platform=Platform.SLACK))

    assert {"database", "index", "book course", "channel #help"} <= {found.name for found in there}
    assert "channel #help" not in {found.name for found in elsewhere}


async def test_admins_see_the_budget_of_their_own_server_alone(services: Services) -> None:
    async with open_database(services.settings.database) as beside:
        for tenant, tokens in (("guild-1", 40), ("guild-2", 7_000)):
            await beside.run(
                ADD_TOKENS,
                platform="discord",
                tenant=tenant,
                hour=to_time(datetime.now(UTC)),
                tokens=tokens,
            )
    found = await HouseSteward(services).findings(CHANNEL)
    [budget] = [each for each in found if each.name == "budget"]
    assert budget.detail == "40 tokens in the last 24 hours; no limit is set."


# Release dates


TOMORROW = datetime.now(UTC) + timedelta(days=1)
YESTERDAY = datetime.now(UTC) - timedelta(days=1)
EARLY = ChannelPolicy(released_at=TOMORROW)


async def shows(services: Services, place: Place = CHANNEL) -> datetime | None:
    """Up to when material is found in a place."""
    filters = await services.library.filters_for(
        platform=place.platform, tenant=place.tenant, channel_id=place.channel_id
    )
    return filters.released_at


@pytest.mark.parametrize("platform", [Platform.DISCORD, Platform.SLACK])
async def test_an_admin_of_a_chat_shows_nothing_that_is_not_out_yet(
    services: Services, platform: Platform
) -> None:
    steward, place = HouseSteward(services), replace(CHANNEL, platform=platform)
    chosen = ChannelPolicy(book_id="course", released_at=TOMORROW)
    for early in (EARLY, chosen):
        for where in (place, replace(place, channel_id="")):
            with pytest.raises(InvalidQuestion, match="later than today"):
                await steward.set_policy(where, early)
    await steward.set_policy(place, ChannelPolicy(book_id="course", released_at=YESTERDAY))
    assert await shows(services, place) == YESTERDAY


async def test_where_the_operator_bound_the_book_an_admin_may_show_it_early(
    services: Services,
) -> None:
    steward = HouseSteward(services)
    await services.librarian.bind(
        platform=Platform.DISCORD, channel_id="channel-1", book_ids=["course"], tenant=None
    )
    own = await steward.own_policy(CHANNEL)
    await steward.set_policy(CHANNEL, EARLY.over(own))
    assert await shows(services) == TOMORROW
    assert (await steward.policy(CHANNEL)).books == ("course",)


async def test_a_book_that_an_admin_chooses_afterwards_is_not_shown_early(
    services: Services, tmp_path: Path
) -> None:
    steward = HouseSteward(services)
    request = IngestionRequest(book_id="exams", sources=(str(tmp_path / "docs"),))
    await services.ingestion.wait((await services.ingestion.start(request)).job_id)
    await services.librarian.bind(
        platform=Platform.DISCORD, channel_id=TENANT, book_ids=["course"], tenant=TENANT
    )
    await services.librarian.bind(
        platform=Platform.DISCORD, channel_id="channel-1", book_ids=["course"], tenant=TENANT
    )
    await steward.set_policy(CHANNEL, EARLY.over(await steward.own_policy(CHANNEL)))
    own = await steward.own_policy(CHANNEL)
    with pytest.raises(InvalidQuestion, match="later than today"):
        await steward.set_policy(CHANNEL, own.reading("exams"))
    # The date of the server would reach a channel that reads another book.
    other = replace(CHANNEL, channel_id="channel-2")
    server = await services.stores.policies.get(SERVER) or ChannelPolicy()
    await services.stores.policies.set(
        SERVER, replace(server.bound_to("course"), released_at=TOMORROW)
    )
    assert await shows(services, other) == TOMORROW
    await steward.set_policy(other, ChannelPolicy(book_id="exams"))
    assert (await steward.policy(other)).books == ("exams",)
    found = await shows(services, other)
    assert found is not None
    assert found < TOMORROW
