"""Staff answers as the database keeps them, and what goes when somebody is forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from rag_core.agent.answer import Outcome
from rag_core.books.audience import Audience
from rag_core.books.book import Book, BookIds
from rag_core.books.policy import ChannelPolicy
from rag_core.books.rules import Rules
from rag_core.conversation.key import ConversationKey, Platform, TenantId
from rag_core.errors import InvalidQuestion
from rag_core.ports import EmbeddedQuery
from rag_core.providers.embedders.models import FORMER_LOCAL_MODEL, LOCAL_MODEL
from rag_core.retrieval.query import Filters, SearchQuery
from rag_core.retrieval.results import SearchResult
from rag_core.staff.answer import Keeping, StaffAnswer, StaffReply
from rag_core.staff.shelf import StaffShelf
from rag_core.staff.staffing import Staffing
from rag_core.staff.writing import Draft, Writing
from rag_core.storage.books import Books
from rag_core.storage.engines.database import Database
from rag_core.storage.forgetting import Forgetting
from rag_core.storage.staff_answers import StaffAnswers
from tests.builders import a_question, a_response, a_turn
from tests.contract.desk_work import DeskWork
from tests.fakes.embedder import WordEmbedder

MORNING = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
KEY = ConversationKey(
    platform=Platform.SLACK, tenant=TenantId("T1"), channel_id="C1", thread_id="t1"
)
COURSE = BookIds(["course"])
HERE = Audience(platform=Platform.SLACK, tenant=TenantId("T1"), bound_books=frozenset(COURSE))
SAID = "Bicycles stay in the blue shed."


class OneBook:
    """Every place reads the course, which the operator bound to it."""

    def __init__(self, policy: ChannelPolicy) -> None:
        self._policy = policy
        self.bound = frozenset(COURSE)

    async def policy_for(self, **place: Any) -> ChannelPolicy:
        return self._policy

    async def rules_for(
        self, *, platform: Platform, tenant: TenantId, channel_id: str, category_id: str = ""
    ) -> Rules:
        audience = Audience(platform=platform, tenant=tenant, bound_books=self.bound)
        return Rules(policy=self._policy, books=COURSE, audience=audience)


class Scene:
    """A desk, its staff answers, and a clock that stands where the test puts it."""

    def __init__(
        self,
        database: Database,
        policy: ChannelPolicy | None = None,
        embedder: WordEmbedder | None = None,
    ) -> None:
        self.desk = DeskWork(database)
        self.store = StaffAnswers(database)
        self.embedder = embedder or WordEmbedder()
        self.now = MORNING
        self.library = OneBook(policy or ChannelPolicy())
        self.audience = HERE
        self.staffing = Staffing(
            store=self.store,
            library=self.library,
            ledger=self.desk.ledger,
            embedder=self.embedder,
            kept_for=timedelta(days=30),
            now=lambda: self.now,
        )
        self.shelf = StaffShelf(store=self.store, embedder=self.embedder, now=lambda: self.now)

    async def refusal(self, outcome: Outcome = Outcome.NO_RESULTS) -> None:
        state = await self.desk.open(KEY)
        question = a_question("Where do bicycles stay?", key=KEY, asker_id="ann")
        question_id = await self.desk.accept(question)
        await self.desk.claim()
        refused = {"citations": (), "confidence": 0.0} if outcome is Outcome.NO_RESULTS else {}
        response = a_response("No.", session_id=state.session_id, outcome=outcome, **refused)
        turn = a_turn(state.session_id, "Where do bicycles stay?", "No.")
        await self.desk.settle(question_id, turn=turn, response=response)
        await self.desk.ledger.close(question_id, delivered=True)

    async def offered(self, text: str = SAID) -> StaffAnswer:
        said = StaffReply(
            key=KEY, message_id="m1", author_id="cleo", author="Cleo", text=text, said_at=MORNING
        )
        found = await self.staffing.offer(said, await self.staffing.refused_in(KEY))
        assert found is not None
        return found

    async def kept(self) -> StaffAnswer:
        return (await self.staffing.keep((await self.offered()).id, by="cleo")).answer

    async def found(self, **filters: Any) -> list[str]:
        return [result.text for result in await self.results(**filters)]

    async def results(self, **filters: Any) -> Sequence[SearchResult]:
        query = SearchQuery(
            text="bicycles stay",
            book_ids=COURSE,
            audience=self.audience,
            filters=Filters(**filters),
        )
        asked = EmbeddedQuery(
            text=query.text,
            vector=await self.embedder.embed_query(query.text),
            filters=query.filters,
        )
        return await self.shelf.joined([], asked, query)


@pytest.fixture
def scene(database: Database) -> Scene:
    return Scene(database)


async def test_only_what_is_kept_is_found_and_only_until_it_expires(scene: Scene) -> None:
    await scene.refusal()
    offered = await scene.offered()
    assert (offered.keeping, offered.question) == (Keeping.OFFERED, "Where do bicycles stay?")
    assert await scene.found() == []
    first = await scene.staffing.keep(offered.id, by="cleo")
    again = await scene.staffing.keep(offered.id, by="cleo")
    assert (first.changed, again.changed) == (True, False)
    assert (await scene.offered()).keeping is Keeping.KEPT  # asked about once
    assert await scene.found() == [SAID]
    scene.now += timedelta(days=30)
    assert await scene.found() == []
    assert (await scene.staffing.keep(offered.id, by="cleo")).changed
    assert await scene.found() == [SAID]


class HalfAlike(WordEmbedder):
    """Puts the question that is asked and every other text at a cosine of one half."""

    def vector(self, text: str) -> list[float]:
        side = [1.0, 0.0] if text == "bicycles stay" else [0.5, 0.75**0.5]
        return [*side, *[0.0] * (self.dimension - 2)]


@pytest.mark.parametrize(
    ("model", "is_found"), [(FORMER_LOCAL_MODEL, True), (LOCAL_MODEL, False), ("other", True)]
)
async def test_how_near_an_answer_must_be_depends_on_the_embedding_model(
    database: Database, model: str, is_found: bool
) -> None:
    scene = Scene(database, embedder=HalfAlike(model=model))
    await scene.refusal()
    await scene.kept()
    assert await scene.found() == ([SAID] if is_found else [])


async def test_it_changes_and_goes_with_its_message(scene: Scene) -> None:
    await scene.refusal()
    kept = await scene.kept()
    await scene.staffing.edited(kept.identity, "Bicycles stay in the green shed.")
    assert await scene.found() == ["Bicycles stay in the green shed."]
    changed = await scene.store.get(kept.id)
    assert changed is not None
    assert changed.chunk_id != kept.chunk_id
    await scene.staffing.deleted(kept.identity)
    assert await scene.found() == []
    assert not (await scene.staffing.withdraw(kept.id)).changed


async def test_an_edit_that_is_no_answer_any_more_withdraws(scene: Scene) -> None:
    await scene.refusal()
    kept = await scene.kept()
    await scene.staffing.edited(kept.identity, "Or do they?")
    assert await scene.found() == []


async def test_only_a_refusal_is_helped_out_with(scene: Scene) -> None:
    assert await scene.staffing.refused_in(KEY) is None
    await scene.refusal(Outcome.COMPLETED)
    assert await scene.staffing.refused_in(KEY) is None


async def test_another_place_and_another_release_date_find_nothing(database: Database) -> None:
    later = MORNING + timedelta(days=300)
    scene = Scene(database, ChannelPolicy(released_at=later, modules=("module-1",)))
    await scene.refusal()
    await scene.kept()
    assert await scene.found() == [SAID]
    assert await scene.found(released_at=later) == [SAID]
    assert await scene.found(released_at=MORNING) == []
    assert await scene.found(modules=("module-1", "x")) == [SAID]
    assert await scene.found(module="module-2") == []
    assert await scene.found(hardware_tier=1) == [SAID]
    assert await scene.found(lesson=1) == []
    other = BookIds(["other"])
    assert await scene.store.found_in(other, audience=HERE, now=scene.now) == []


@pytest.mark.parametrize("who", ["asker", "author", "tenant", "old", "book"])
async def test_it_is_forgotten_with_whom_it_belongs_to(scene: Scene, who: str) -> None:
    await scene.refusal()
    kept = await scene.kept()
    forgetting = Forgetting(scene.desk.database)
    match who:
        case "asker":
            await forgetting.person(platform=Platform.SLACK, asker_id="ann")
        case "author":
            await forgetting.person(platform=Platform.SLACK, asker_id="cleo")
        case "tenant":
            await forgetting.tenant(platform=Platform.SLACK, tenant=TenantId("T1"))
        case "old":
            await forgetting.older_than(datetime.now(UTC) + timedelta(days=1))
        case "book":
            books = Books(scene.desk.database)
            await books.save(Book(book_id="course", title="Course"))
            await books.remove("course")
    assert await scene.store.get(kept.id) is None
    await scene.store.save(kept)  # whoever still holds it does not bring it back
    assert await scene.store.get(kept.id) is None


async def test_offers_that_nobody_took_are_dropped_and_kept_ones_stay(scene: Scene) -> None:
    await scene.refusal()
    kept = await scene.kept()
    unkept = replace(
        kept,
        id=uuid4(),
        identity=replace(kept.identity, message_id="m2"),
        keeping=Keeping.OFFERED,
        changed_at=MORNING,
    )
    await scene.store.add(unkept)
    scene.now += timedelta(days=8)
    await scene.staffing.tidy()
    assert await scene.store.get(unkept.id) is None
    assert await scene.store.get(kept.id) is not None


async def test_another_embedding_model_finds_it_too(scene: Scene) -> None:
    await scene.refusal()
    kept = await scene.kept()
    await scene.store.save(replace(kept, model="the one before", vector=(1.0, 2.0)))
    assert await scene.found() == [SAID]
    renewed = await scene.store.get(kept.id)
    assert renewed is not None
    assert renewed.model == scene.embedder.model


async def test_what_was_written_as_a_message_is_changed_by_that_message_alone(
    scene: Scene,
) -> None:
    writing = Writing(
        store=scene.store,
        ledger=scene.desk.ledger,
        embedder=scene.embedder,
        kept_for=timedelta(days=30),
        now=lambda: scene.now,
    )
    draft = Draft(book_id="course", text="Bicycles stay <@U1> by the gate.", author="Ada\nAdmin")
    written = await writing.write(draft, by="key-1")
    assert (written.author, written.expires_at) == ("Ada Admin", MORNING + timedelta(days=30))
    assert await scene.found() == [written.text]
    assert (await scene.store.get(written.id)) is not None
    await scene.refusal()
    kept = await scene.kept()
    with pytest.raises(InvalidQuestion, match="somebody's message"):
        await writing.change(kept.id, text="Bicycles stay wherever they like.")
    await writing.change(kept.id, expires_at=MORNING)
    assert await scene.found() == [written.text]
    await writing.change(written.id, text="Bicycles stay by the other gate.")
    assert await scene.found() == ["Bicycles stay by the other gate."]
    with pytest.raises(InvalidQuestion, match="at most 30 days"):
        await writing.change(written.id, expires_at=MORNING + timedelta(days=32))
    scene.now += timedelta(days=31)
    assert await scene.found() == []


async def shared_with(scene: Scene, *places: str) -> StaffAnswer:
    await scene.refusal()
    return await writing_in(scene).share((await scene.kept()).id, places)


def writing_in(scene: Scene) -> Writing:
    return Writing(
        store=scene.store,
        ledger=scene.desk.ledger,
        embedder=scene.embedder,
        kept_for=timedelta(days=30),
        now=lambda: scene.now,
    )


@pytest.mark.parametrize(
    ("shared", "finders"),
    [
        ((), set()),
        (("slack:T2",), {"slack:T2"}),
        (("discord:7", "web"), {"discord:7", "web"}),
        (("everywhere",), {"slack:T2", "slack:T22", "discord:7", "web"}),
    ],
)
async def test_what_is_shared_is_found_where_it_is_shared_and_nowhere_else(
    scene: Scene, shared: tuple[str, ...], finders: set[str]
) -> None:
    await shared_with(scene, *shared)
    assert await scene.found() == [SAID]
    others = [
        Audience(platform=Platform.SLACK, tenant=TenantId("T2"), bound_books=frozenset(COURSE)),
        Audience(platform=Platform.SLACK, tenant=TenantId("T22"), bound_books=frozenset(COURSE)),
        Audience(platform=Platform.DISCORD, tenant=TenantId("7")),
        Audience(platform=Platform.WEB),
    ]
    for audience in others:
        scene.audience = audience
        assert await scene.found() == ([SAID] if audience.name in finders else [])


async def test_another_place_is_not_told_who_wrote_it_or_where(scene: Scene) -> None:
    shared = await shared_with(scene, "everywhere")
    (here,) = await scene.results()
    scene.audience = Audience(platform=Platform.WEB)
    (there,) = await scene.results()
    assert here.page_title == "Staff answer by Cleo, 2026-03-02"
    assert (there.page_title, there.page_url) == ("Staff answer, 2026-03-02", None)
    assert (here.section_heading, there.section_heading) == ("", "")
    assert shared.question == "Where do bicycles stay?"  # it serves the search


async def test_sharing_ends_with_the_words_that_were_shared(scene: Scene) -> None:
    kept = await shared_with(scene, "everywhere")
    await scene.staffing.edited(kept.identity, "Bicycles stay in the green shed.")
    assert await scene.found() == ["Bicycles stay in the green shed."]
    scene.audience = Audience(platform=Platform.WEB)
    assert await scene.found() == []
    await writing_in(scene).share(kept.id, ["web"])
    assert await scene.found() == ["Bicycles stay in the green shed."]
    await scene.staffing.withdraw(kept.id)
    await scene.staffing.keep(kept.id, by="cleo")
    assert await scene.found() == []


async def test_what_names_no_place_and_what_is_for_all_readers_is_not_shared(scene: Scene) -> None:
    kept = await shared_with(scene, "web", "web")
    assert kept.shared_with == ("web",)
    writing = writing_in(scene)
    for wrong in ("slack", "slack:T%", "irc:1", "", "discord:abc", "everywhere web"):
        with pytest.raises(InvalidQuestion, match="not a place to share with"):
            await writing.share(kept.id, [wrong])
    with pytest.raises(InvalidQuestion, match="at most 50"):
        await writing.share(kept.id, [f"discord:{number}" for number in range(51)])
    draft = Draft(book_id="course", text="Bicycles stay by the gate.", author="Ada")
    written = await writing.write(draft, by="key-1")
    with pytest.raises(InvalidQuestion, match="wherever its book is read"):
        await writing.share(written.id, ["everywhere"])


async def test_a_book_that_the_operator_did_not_bind_takes_and_shows_no_answer(
    scene: Scene,
) -> None:
    await scene.refusal()
    await scene.kept()
    scene.audience = replace(HERE, bound_books=frozenset())
    assert await scene.found() == []
    scene.library.bound = frozenset()
    said = StaffReply(
        key=KEY, message_id="m2", author_id="cleo", author="Cleo", text=SAID, said_at=MORNING
    )
    assert await scene.staffing.offer(said, None) is None


async def test_a_new_vector_brings_back_neither_old_words_nor_a_withdrawn_answer(
    scene: Scene,
) -> None:
    await scene.refusal()
    kept = await scene.kept()
    await scene.staffing.edited(kept.identity, "Bicycles stay in the green shed.")
    await scene.staffing.withdraw(kept.id)
    await scene.store.save_vector(replace(kept, model="new", vector=(1.0,)))
    stored = await scene.store.get(kept.id)
    assert stored is not None
    assert (stored.text, stored.keeping) == (
        "Bicycles stay in the green shed.",
        Keeping.WITHDRAWN,
    )
    assert stored.model != "new"


async def test_what_is_cited_stands_as_long_as_it_is_kept_anywhere(scene: Scene) -> None:
    await scene.refusal()
    kept = await scene.kept()
    assert await scene.shelf.kept_ids([kept.chunk_id, "other"]) == {kept.chunk_id}
    await scene.staffing.withdraw(kept.id)
    assert await scene.shelf.kept_ids([kept.chunk_id]) == set()
