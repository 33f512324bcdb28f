"""What is kept or closed in one place, asked for from another: through the open house."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from adapters.steward import Finding
from bot.doctor import Doctor
from bot.services import Services
from bot.settings import read_settings
from bot.steward import HouseSteward
from bot.wiring import open_services
from rag_core.agent.answer import AgentResponse, Outcome
from rag_core.books.policy import ChannelPolicy, Place
from rag_core.conversation.key import ConversationKey, Platform, TenantId
from rag_core.errors import InvalidQuestion
from rag_core.ingestion.pipeline import IngestionRequest
from rag_core.staff.answer import StaffReply
from tests.builders import a_question
from tests.fakes.listening_progress import ListeningProgress
from tests.shelf_builders import write_files

PAGE = "# The reading room\n\nIn summer the reading room opens at 9:30 and closes at 20:00.\n"
ROOM = "When does the reading room open in summer?"
ASKED = "Where can Zacharias leave a bicycle at night?"
SAID = "Bicycles stay overnight in the blue shed behind the chapel."
OURS = Place(platform=Platform.DISCORD, tenant=TenantId("1"), channel_id="10")
THEIRS = Place(platform=Platform.DISCORD, tenant=TenantId("2"), channel_id="20")
WORKSPACE = Place(platform=Platform.SLACK, tenant=TenantId("1"), channel_id="10")

Opens = Callable[..., AbstractAsyncContextManager["House"]]


@dataclass
class House:
    """The open house, as people of several places ask it."""

    services: Services

    async def read_in(self, folder: Path, *books: str) -> None:
        write_files(folder / "pages", {"room.md": PAGE})
        for book in books:
            request = IngestionRequest(book_id=book, sources=(str(folder / "pages"),))
            started = await self.services.ingestion.start(request)
            await self.services.ingestion.wait(started.job_id)

    async def bind(self, place: Place, *books: str) -> None:
        await self.services.library.bind(
            platform=place.platform,
            tenant=place.tenant,
            channel_id=place.channel_id,
            book_ids=books,
        )

    async def ask(self, place: Place, text: str, thread: str = "") -> AgentResponse:
        key = key_at(place, thread or uuid4().hex)
        position = f"{datetime.now(UTC).timestamp():020f}"
        question = a_question(text, key=key, message_id=f"q{position}", position=position)
        await self.services.desk.accept(question)
        ledger = self.services.stores.ledger
        claim = await ledger.claim(worker="w", lease=timedelta(minutes=1))
        assert claim is not None
        response, turn = await self.services.answering.answer(claim, ListeningProgress())
        await ledger.settle(
            claim.question_id, worker="w", response=response, turn=turn, parts=("{}",)
        )
        await ledger.close(claim.question_id, delivered=True)
        return response

    async def keep(self, place: Place) -> None:
        """A refusal there, a reply by staff, and their consent."""
        assert (await self.ask(place, ASKED, "refused")).outcome is Outcome.NO_RESULTS
        said = StaffReply(
            key=key_at(place, "refused"),
            message_id="reply",
            author_id="ada",
            author="Ada Lovelace (HR)",
            text=SAID,
            said_at=datetime.now(UTC),
            link="https://chat.example/reply",
        )
        staffing = self.services.staffing
        offered = await staffing.offer(said, await staffing.refused_in(said.key))
        assert offered is not None
        await staffing.keep(offered.id, by="ada")


def key_at(place: Place, thread: str) -> ConversationKey:
    return ConversationKey(
        platform=place.platform,
        tenant=place.tenant,
        channel_id=place.channel_id,
        thread_id=thread,
    )


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opens:
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(tmp_path / "data"))

    @asynccontextmanager
    async def opening(**changes: str) -> AsyncIterator[House]:
        settings = read_settings(None).model_copy(update=changes)
        settings.data_dir.mkdir(exist_ok=True)
        async with open_services(settings, settings.data_dir) as services:
            yield House(services)

    return opening


async def test_an_answer_that_was_kept_in_one_server_is_found_in_no_other(
    opened: Opens, tmp_path: Path
) -> None:
    async with opened() as house:
        await house.read_in(tmp_path, "course")
        for place in (OURS, THEIRS, WORKSPACE):
            await house.bind(place, "course")
        await house.keep(OURS)
        found = await house.ask(OURS, ASKED)
        assert found.outcome is Outcome.COMPLETED
        assert "blue shed" in found.answer
        assert found.citations[0].page_title.startswith("Staff answer by Ada Lovelace (HR)")
        for place in (THEIRS, WORKSPACE):
            elsewhere = await house.ask(place, ASKED)
            assert elsewhere.outcome is Outcome.NO_RESULTS
            assert "shed" not in repr(elsewhere)


async def test_an_answer_is_found_only_for_a_book_that_the_operator_bound_there(
    opened: Opens, tmp_path: Path
) -> None:
    async with opened() as house:
        await house.read_in(tmp_path, "course", "other")
        await house.bind(OURS, "course")
        await house.keep(OURS)
        assert "blue shed" in (await house.ask(OURS, ASKED)).answer
        await house.bind(OURS)
        own_choice = ChannelPolicy(book_id="course")
        await HouseSteward(house.services).set_policy(OURS, own_choice)
        assert (await house.ask(OURS, ROOM)).outcome is Outcome.COMPLETED
        assert (await house.ask(OURS, ASKED)).outcome is Outcome.NO_RESULTS


async def test_the_words_of_the_asker_are_published_nowhere(opened: Opens, tmp_path: Path) -> None:
    async with opened() as house:
        await house.read_in(tmp_path, "course")
        await house.bind(OURS, "course")
        await house.keep(OURS)
        found = await house.ask(OURS, "Where can I leave a bicycle at night?")
        assert found.outcome is Outcome.COMPLETED
        assert "blue shed" in found.answer
        assert "Zacharias" not in repr(found)


@pytest.mark.parametrize("default", ["exam", None])
async def test_a_closed_book_is_not_read_in_a_chat_as_the_default_or_the_only_one(
    default: str | None, opened: Opens, tmp_path: Path
) -> None:
    async with opened(closed_books="exam", default_book=default) as house:
        await house.read_in(tmp_path, "exam")
        for place in (OURS, WORKSPACE):
            refused = await house.ask(place, ROOM)
            assert refused.outcome is Outcome.ERROR
            assert "exam" not in repr(refused)
            assert "9:30" not in repr(refused)
        await house.bind(OURS, "exam")
        assert "9:30" in (await house.ask(OURS, ROOM)).answer
        assert (await house.ask(THEIRS, ROOM)).outcome is Outcome.ERROR


async def test_a_book_that_was_chosen_before_it_was_closed_is_neither_read_nor_named(
    opened: Opens, tmp_path: Path
) -> None:
    async with opened() as house:
        await house.read_in(tmp_path, "course", "exam")
        await HouseSteward(house.services).set_policy(OURS, ChannelPolicy(book_id="exam"))
        assert "9:30" in (await house.ask(OURS, ROOM)).answer
    async with opened(closed_books="exam", default_book="course") as house:
        steward = HouseSteward(house.services)
        refused = await house.ask(OURS, ROOM)
        assert refused.outcome is Outcome.ERROR  # nothing is read rather than another book
        told = [refused, await steward.policy(OURS), await steward.own_policy(OURS)]
        assert "exam" not in repr(told)


async def test_a_misspelled_book_lists_those_alone_that_may_be_read_there(
    opened: Opens, tmp_path: Path
) -> None:
    async with opened(closed_books="exam") as house:
        await house.read_in(tmp_path, "course", "exam")
        steward = HouseSteward(house.services)
        for wrong in ("exma", "exam"):
            with pytest.raises(InvalidQuestion) as refused:
                await steward.set_policy(OURS, ChannelPolicy(book_id=wrong))
            assert refused.value.message == f"There is no book '{wrong}'. Books: course."


async def test_the_operator_is_told_of_kept_answers_that_nobody_finds(
    opened: Opens, tmp_path: Path
) -> None:
    async with opened() as house:
        await house.read_in(tmp_path, "course")
        await house.bind(OURS, "course")
        await house.keep(OURS)
        doctor = Doctor(house.services.settings, house.services)
        fine = named("staff answers", await doctor.everything())
        await house.bind(OURS)
        unbound = named("staff answers", await doctor.everything())
    assert (fine.needs_attention, fine.detail) == (False, "1 answer kept.")
    assert unbound.needs_attention
    assert "1 in discord 1 for course" in unbound.detail
    assert unbound.advice == "footnote books bind discord 1 course"


def named(name: str, findings: Sequence[Finding]) -> Finding:
    (found,) = [each for each in findings if each.name == name]
    return found
