"""Which books a place reads, and which of its wider places' words hold there."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from rag_core.books.book import Book, BookIds
from rag_core.books.bounds import bounded
from rag_core.books.library import Library
from rag_core.books.policy import ANY_TENANT, ChannelPolicy, Place, ReaderProfile
from rag_core.conversation.key import LOCAL_TENANT, Platform, TenantId
from rag_core.errors import InvalidQuestion
from rag_core.retrieval.query import Filters, Proficiency
from tests.builders import NOON
from tests.fakes.ingestion_stores import MemoryBooks, MemoryPolicies

COURSE = BookIds(["course"])
GUILD = TenantId("G1")
SERVER = Place(platform=Platform.DISCORD, tenant=GUILD)
CATEGORY = replace(SERVER, channel_id="category")
CHANNEL = replace(SERVER, channel_id="channel")
SUMMER = datetime(2026, 7, 1, tzinfo=UTC)


@pytest.fixture
def policies() -> MemoryPolicies:
    return MemoryPolicies()


async def library_of(
    *book_ids: str, policies: MemoryPolicies | None = None, default_book: str | None = None
) -> Library:
    books = MemoryBooks()
    for book_id in book_ids:
        await books.save(Book(book_id=book_id, title=book_id))
    return Library(books=books, policies=policies or MemoryPolicies(), default_book=default_book)


async def books_in(library: Library, place: Place, category_id: str = "") -> BookIds | None:
    return await library.books_for(
        platform=place.platform,
        tenant=place.tenant,
        channel_id=place.channel_id,
        category_id=category_id,
    )


async def test_a_channel_reads_its_own_books_or_else_the_default(policies: MemoryPolicies) -> None:
    library = await library_of("course", "faq", "notes", policies=policies, default_book="course")
    await policies.set(CHANNEL, ChannelPolicy().reading("notes", "faq"))
    assert await books_in(library, CHANNEL) == BookIds(["notes", "faq"])
    assert await books_in(library, replace(CHANNEL, channel_id="other")) == COURSE
    assert await books_in(library, replace(CHANNEL, tenant=TenantId("G2"))) == COURSE
    assert await books_in(library, replace(CHANNEL, platform=Platform.SLACK)) == COURSE


async def test_books_that_were_removed_are_not_replaced_by_others(policies: MemoryPolicies) -> None:
    library = await library_of("course", "faq", policies=policies, default_book="course")
    await policies.set(CHANNEL, ChannelPolicy().reading("gone", "faq"))
    assert await books_in(library, CHANNEL) == BookIds(["faq"])
    await policies.set(CHANNEL, ChannelPolicy().reading("gone"))
    assert await books_in(library, CHANNEL) is None
    empty = await library_of(default_book="course")
    assert await books_in(empty, CHANNEL) is None


async def test_without_a_setting_the_only_book_is_the_default() -> None:
    assert await books_in(await library_of(), CHANNEL) is None
    assert await books_in(await library_of("course"), CHANNEL) == COURSE
    assert await books_in(await library_of("course", "second"), CHANNEL) is None


async def test_a_policy_holds_field_by_field_from_the_narrowest_place_outwards(
    policies: MemoryPolicies,
) -> None:
    library = await library_of("course", policies=policies)
    await policies.set(
        SERVER,
        ChannelPolicy(
            book_id="course",
            tone="plain",
            auto_answer=True,
            hint_only=True,
            reader=ReaderProfile(hardware_tier=1, proficiency_levels=("A1",)),
        ),
    )
    await policies.set(
        CATEGORY,
        ChannelPolicy(
            modules=("one",), tone="warm", released_at=NOON, reader=ReaderProfile(hardware_tier=3)
        ),
    )
    await policies.set(CHANNEL, ChannelPolicy(auto_answer=False, released_at=SUMMER, tone=""))
    held = await library.policy_for(
        platform=Platform.DISCORD, tenant=GUILD, channel_id="channel", category_id="category"
    )
    assert held == ChannelPolicy(
        book_id="course",
        modules=("one",),
        auto_answer=False,
        hint_only=True,
        tone="",
        released_at=SUMMER,
        reader=ReaderProfile(hardware_tier=3, proficiency_levels=("A1",)),
    )
    beside = await library.policy_for(platform=Platform.DISCORD, tenant=GUILD, channel_id="x")
    assert (beside.modules, beside.auto_answer, beside.released_at) == ((), True, None)


async def test_books_of_a_wider_place_are_read_as_a_whole_or_not_at_all(
    policies: MemoryPolicies,
) -> None:
    library = await library_of("course", "faq", "notes", policies=policies)
    await policies.set(SERVER, ChannelPolicy().reading("course", "faq"))
    assert await books_in(library, CHANNEL) == BookIds(["course", "faq"])
    await policies.set(CHANNEL, ChannelPolicy().reading("notes"))
    assert await books_in(library, CHANNEL) == BookIds(["notes"])


async def test_a_channel_can_be_bound_by_its_id_alone(policies: MemoryPolicies) -> None:
    library = await library_of("course", "faq", policies=policies, default_book="course")
    bound = await library.bind(
        platform=Platform.DISCORD, channel_id="channel", book_ids=["faq", "course"]
    )
    assert bound == [replace(CHANNEL, tenant=ANY_TENANT)]
    assert await books_in(library, CHANNEL) == BookIds(["faq", "course"])
    await library.bind(platform=Platform.DISCORD, channel_id=GUILD, book_ids=["faq"])
    assert await books_in(library, replace(CHANNEL, channel_id="other")) == BookIds(["faq"])
    assert await books_in(library, replace(SERVER, tenant=LOCAL_TENANT)) == COURSE


async def test_binding_by_id_changes_what_a_server_has_said_of_that_channel(
    policies: MemoryPolicies,
) -> None:
    library = await library_of("course", "faq", policies=policies)
    await policies.set(CHANNEL, ChannelPolicy(book_id="course", hint_only=True))
    bound = await library.bind(platform=Platform.DISCORD, channel_id="channel", book_ids=["faq"])
    assert bound == [CHANNEL]
    assert await policies.all() == {CHANNEL: ChannelPolicy(hint_only=True).bound_to("faq")}
    await library.bind(platform=Platform.DISCORD, channel_id="channel", book_ids=[])
    assert await policies.all() == {CHANNEL: ChannelPolicy(hint_only=True)}


async def test_only_books_that_are_there_can_be_bound(policies: MemoryPolicies) -> None:
    library = await library_of("course", policies=policies)
    with pytest.raises(InvalidQuestion, match=r"no book 'cours'\. Books: course"):
        await library.bind(platform=Platform.SLACK, channel_id="C1", book_ids=["course", "cours"])
    assert await policies.all() == {}


def test_what_is_not_out_yet_is_not_found_unless_the_place_says_so() -> None:
    assert bounded(Filters(), ChannelPolicy(), reader=None, at=NOON).released_at == NOON
    ahead = ChannelPolicy(released_at=SUMMER)
    assert bounded(Filters(), ahead, reader=None, at=NOON).released_at == SUMMER


@pytest.mark.parametrize(
    ("asked", "place", "own", "found"),
    [
        (None, None, None, None),
        (3, None, None, 3),
        (None, 2, None, 2),
        (3, 2, None, 2),
        (1, 2, None, 1),
        (None, 2, 4, 4),
        (3, 4, 1, 1),
    ],
)
def test_the_lower_tier_holds_and_the_askers_own_comes_before_the_places(
    asked: int | None, place: int | None, own: int | None, found: int | None
) -> None:
    policy = ChannelPolicy(reader=ReaderProfile(hardware_tier=place))
    reader = ReaderProfile(hardware_tier=own) if own else None
    filters = bounded(Filters(hardware_tier=asked), policy, reader=reader, at=NOON)
    assert filters.hardware_tier == found


def test_levels_are_those_that_both_the_asker_and_the_place_name() -> None:
    policy = ChannelPolicy(reader=ReaderProfile(proficiency_levels=("A1", "A2")))

    def levels(*asked: Proficiency) -> tuple[Proficiency, ...]:
        wanted = Filters(proficiency_levels=asked)
        return bounded(wanted, policy, reader=None, at=NOON).proficiency_levels

    assert levels() == (Proficiency.A1, Proficiency.A2)
    assert levels(Proficiency.A2, Proficiency.B1) == (Proficiency.A2,)
    with pytest.raises(InvalidQuestion, match="only material of these levels is read: A1, A2"):
        levels(Proficiency.C1)


def test_a_module_outside_the_places_modules_is_refused_with_those_there_are() -> None:
    policy = ChannelPolicy(modules=("one", "two"))
    within = bounded(Filters(module="two"), policy, reader=None, at=NOON)
    assert (within.module, within.modules) == ("two", ("one", "two"))
    with pytest.raises(InvalidQuestion, match="Known modules: one, two"):
        bounded(Filters(module="three"), policy, reader=None, at=NOON)


async def test_a_lookup_finds_what_an_answer_would(policies: MemoryPolicies) -> None:
    library = await library_of("course", policies=policies)
    await policies.set(CATEGORY, ChannelPolicy(modules=("one",), released_at=SUMMER))
    found = await library.filters_for(
        platform=Platform.DISCORD,
        tenant=GUILD,
        channel_id="channel",
        category_id="category",
        reader=ReaderProfile(hardware_tier=2),
        asked=Filters(lesson=3),
    )
    assert found == Filters(modules=("one",), released_at=SUMMER, hardware_tier=2, lesson=3)
