"""Two servers and two workspaces beside each other: nothing of one is ever seen in another."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from adapters.apologies import sentence_for
from adapters.closed_passages import ClosedPassages
from adapters.discord.acting.lookup import Lookup
from adapters.discord.hearing.channels import Spot
from adapters.passages import Passages
from adapters.review import Review
from adapters.section_titles import SectionTitles
from adapters.slack.acting.commands import listed
from adapters.staff_answers import Decisions
from bot.services import Services
from bot.settings import Settings, read_settings
from bot.steward import HouseSteward
from bot.web_wiring import starters_of
from bot.wiring import open_services
from rag_core.books.policy import EVERYWHERE, ChannelPolicy, Place
from rag_core.books.source import BookSource
from rag_core.conversation.key import ConversationKey, Platform, TenantId
from rag_core.conversation.question import Question
from rag_core.desk.incoming import IncomingQuestion
from rag_core.errors import FootnoteError, InvalidQuestion
from rag_core.ingestion.pipeline import IngestionRequest
from rag_core.staff.answer import StaffReply
from rag_core.staff.writing import Draft
from tests.fakes.listening_progress import ListeningProgress
from tests.shelf_builders import write_files

OPERATIONS = 1_000
NAMES = ("amber", "birch", "coral", "delta")
PLACES = (
    (Platform.DISCORD, TenantId("100")),
    (Platform.DISCORD, TenantId("200")),
    (Platform.SLACK, TenantId("100")),
    (Platform.SLACK, TenantId("200")),
)
"""Their ids are the same across platforms, and so are those of channels, people and messages: what
keeps them apart is never luck."""
CHANNELS = ("C1", "C2")
LATE = "late-zqlate"
"""Open in the beginning and closed later."""
WORD = "zq"
"""All planted words begin like this, and no other word does."""
QUESTIONS = (
    "Where do bicycles stay at night {word}?",
    "When does the reading room open {word}?",
    "How is the harbour gate of {word} opened?",
    "May dogs come along to the concert with {word}?",
    "What does a parking permit cost for {word}?",
)
SAID = "Bicycles stay at night in the {word} shed behind the chapel."
PAGE = """# The {word} guide

## Opening the {word} gate

The harbour gate of {word} is opened with the brass key of {word}.

## Reading room hours

The reading room opens at 9:30 and closes at 20:00, says {word}.
"""


@dataclass
class Kept:
    """A staff answer, with the words that were planted in it."""

    id: UUID
    home: int
    channel: str
    book: str
    identity_at: str
    text_words: list[str]
    name_word: str
    asked_word: str
    shared: set[int] = field(default_factory=set)
    is_kept: bool = True


@dataclass
class Model:
    """What may be seen where, told independently of the code that is tested."""

    closed: frozenset[str] = frozenset()
    bound: dict[tuple[int, str], tuple[str, ...]] = field(default_factory=dict)
    kept: list[Kept] = field(default_factory=list)
    asked: dict[int, set[str]] = field(default_factory=dict)
    tones: dict[int, set[str]] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    ever_shared: set[tuple[int, str]] = field(default_factory=set)

    def bound_in(self, place: int, channel: str) -> tuple[str, ...]:
        return self.bound.get((place, channel)) or self.bound.get((place, EVERYWHERE)) or ()

    def words_of_books(self, place: int, channel: str) -> set[str]:
        open_here = self.bound_in(place, channel)
        return {
            word_in(book)
            for book in (*(own_book(number) for number in range(4)), LATE, "course-zqcourse")
            if book not in self.closed or book in open_here
        }

    def words_of_answers(self, place: int, channel: str) -> set[str]:
        """Words of kept answers that a search there may find now."""
        words: set[str] = set(self.written)
        for each in self.kept:
            if not each.is_kept:
                continue
            is_bound = each.home == place and each.book in self.bound_in(place, channel)
            if is_bound or place in each.shared:
                words.add(each.text_words[-1])
                words |= {each.name_word} if each.home == place else set()
        return words


def own_book(place: int) -> str:
    return f"own-{WORD}{NAMES[place]}"


def word_in(book: str) -> str:
    return book.partition("-")[2]


def planted(text: str) -> set[str]:
    words = "".join(c if c.isalnum() else " " for c in text.lower()).split()
    return {word for word in words if word.startswith(WORD)}


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("FOOTNOTE_DEFAULT_BOOK", "course-zqcourse")
    for limit in ("FOOTNOTE_USER_QUESTIONS_HOUR", "FOOTNOTE_CHANNEL_QUESTIONS_DAY"):
        monkeypatch.setenv(limit, "0")
    made = read_settings(None)
    made.data_dir.mkdir()
    return made


async def fill(services: Services, folder: Path) -> None:
    """Every book says the same of the same things, each with its own word."""
    for book in (*(own_book(number) for number in range(4)), LATE, "course-zqcourse"):
        pages = folder / book
        write_files(pages, {f"{word_in(book)}.md": PAGE.format(word=word_in(book))})
        request = IngestionRequest(
            book_id=book, sources=(str(pages),), title=f"The book {word_in(book)}"
        )
        await services.ingestion.wait((await services.ingestion.start(request)).job_id)
        now = datetime.now(UTC)
        source = BookSource(
            source_id=uuid4(), book_id=book, location=str(pages), added_at=now, next_at=None
        )
        await services.stores.sources.add(source)


class World:
    """Random people of four places, and the operator of the one house that they share."""

    def __init__(self, model: Model, seed: int) -> None:
        self.model = model
        self.random = random.Random(seed)
        self.count = 0
        self.did: Counter[str] = Counter()
        self.answers: list[tuple[int, str, UUID]] = []
        self.refused: list[tuple[int, IncomingQuestion, str]] = []
        self.seen: Counter[str] = Counter()
        self.services: Services
        self.steward: HouseSteward

    def enter(self, services: Services) -> None:
        """The house as it was opened last."""
        self.services, self.steward = services, HouseSteward(services)
        self.review = Review(
            answers=services.stores.ledger,
            feedback=services.stores.feedback,
            desk=services.desk,
            markers=services.stores.markers,
            closed=ClosedPassages(library=services.library, index=services.vectors),
        )
        self.lookup = Lookup(
            searches=services.retriever,
            library=services.library,
            titles=SectionTitles(files=services.stores.jobs, passages=services.vectors),
        )
        self.passages = Passages(
            searches=services.retriever, library=services.library, seconds=60.0
        )

    @property
    def operations(self) -> Mapping[str, Callable[[int, str], Awaitable[None]]]:
        return {
            "ask": self.ask, "keep": self.keep, "look up": self.look_up,
            "evidence": self.evidence, "autocomplete": self.autocomplete, "gaps": self.gaps,
            "lists": self.lists, "choose": self.choose, "bind": self.bind, "share": self.share,
            "edit": self.edit, "decide": self.decide, "write": self.write,
        }  # fmt: skip

    async def step(self) -> None:
        weights = {"ask": 7, "keep": 3, "look up": 4, "gaps": 4, "evidence": 2}
        names = [name for name in self.operations for _ in range(weights.get(name, 1))]
        name = self.random.choice(names)
        await self.operations[name](self.random.randrange(4), self.random.choice(CHANNELS))
        self.did[name] += 1

    def check(self, what: str, text: str, place: int, channel: str, *, more: set[str]) -> None:
        """No planted word but those that may be seen there."""
        allowed = self.model.words_of_books(place, channel) | more
        found = planted(text)
        self.seen.update([what] * len(found))
        assert found <= allowed, f"{what} in {PLACES[place]} {channel}: {found - allowed}"

    def word(self, kind: str) -> str:
        self.count += 1
        return f"{WORD}{kind}{self.count}x"

    async def ask(self, place: int, channel: str) -> None:
        word, model = self.word("ask"), self.model
        text = self.random.choice(QUESTIONS).format(word=word)
        if self.random.random() < 0.5:  # the same as others ask, to be led to their threads
            word, text = "", "When does the reading room open?"
        question = self.question(place, channel, text)
        model.asked.setdefault(place, set()).update({word} - {""})
        await self.services.desk.accept(question)
        ledger = self.services.stores.ledger
        claim = await ledger.claim(worker="worker", lease=timedelta(minutes=5))
        assert claim is not None
        progress = ListeningProgress()
        response, turn = await self.services.answering.answer(claim, progress)
        await ledger.settle(
            claim.question_id, worker="worker", response=response, turn=turn, parts=('{"text":""}',)
        )
        await ledger.close(claim.question_id, delivered=True)
        earlier = response.asked_before
        if earlier is not None:
            self.seen["repeat"] += 1
            assert earlier.key.platform is question.key.platform
            assert earlier.key.tenant == question.key.tenant
            assert earlier.key.channel_id == question.key.channel_id
        told = " ".join([repr(response).replace(text, ""), *progress.shown])
        more = model.words_of_answers(place, channel) | {word}
        self.check("ask", told, place, channel, more=more)
        self.answers.append((place, channel, response.answer_id))
        if not response.should_answer:
            self.refused.append((place, question, word))

    def question(self, place: int, channel: str, text: str) -> IncomingQuestion:
        platform, tenant = PLACES[place]
        self.count += 1
        key = ConversationKey(
            platform=platform, tenant=tenant, channel_id=channel, thread_id=f"{self.count}.1"
        )
        now = datetime.now(UTC)
        return IncomingQuestion(
            key=key,
            message_id=key.thread_id,
            asker_id=f"u{self.random.randrange(3)}",
            question=Question(message=text),
            heard_at=now,
            position=f"{self.count:012d}",
        )

    async def keep(self, place: int, channel: str) -> None:
        """Somebody of the staff answers what was refused there, or writes of their own accord."""
        own = [
            each
            for each in self.refused
            if each[0] == place and "bicycles" in each[1].question.message
        ]
        word, name = self.word("said"), self.word("name")
        platform, tenant = PLACES[place]
        key = ConversationKey(
            platform=platform, tenant=tenant, channel_id=channel, thread_id=f"t-{word}"
        )
        asked_word = ""
        if own and self.random.random() < 0.7:
            _, question, asked_word = self.random.choice(own)
            key = question.key
        said = StaffReply(
            key=key,
            message_id=f"m{self.count}",
            author_id=f"s{self.random.randrange(3)}",
            author=f"Ada {name} (HR)",
            text=SAID.format(word=word),
            said_at=datetime.now(UTC),
            link=f"https://chat.example/{name}",
        )
        refused = await self.services.staffing.refused_in(key)
        offered = await self.services.staffing.offer(said, refused)
        bound = self.model.bound_in(place, key.channel_id)
        if offered is None:
            return
        assert offered.book_id in bound
        await self.services.staffing.keep(offered.id, by=said.author_id)
        self.model.kept.append(
            Kept(
                id=offered.id,
                home=place,
                channel=key.channel_id,
                book=offered.book_id,
                identity_at=said.message_id,
                text_words=[word],
                name_word=name,
                asked_word=asked_word,
            )
        )

    async def look_up(self, place: int, channel: str) -> None:
        platform, tenant = PLACES[place]
        text = self.random.choice(QUESTIONS).format(word="").replace("  ", " ")
        if self.model.kept and self.random.random() < 0.3:  # somebody knows what to look for
            text = f"bicycles {self.random.choice(self.model.kept).asked_word or 'stay'}"
        told = await self.lookup.passages(text, spot_of(tenant, channel), None)
        if platform is Platform.SLACK:
            try:
                found = await self.passages.of(
                    text, platform=platform, tenant=tenant, channel_id=channel
                )
                told = repr(listed(found)) + repr(found)
            except FootnoteError as error:
                told = sentence_for(error)
        self.check(
            "look up", told, place, channel, more=self.model.words_of_answers(place, channel)
        )

    async def evidence(self, place: int, channel: str) -> None:
        """A button below an answer, and one that was never shown in this place."""
        if not self.answers:
            return
        home, there, answer_id = self.random.choice(self.answers)
        platform, tenant = PLACES[place]
        shown = await self.review.shown(answer_id, platform=platform, tenant=tenant)
        if home != place:
            assert isinstance(shown, str), f"{PLACES[place]} is shown an answer of {PLACES[home]}"
            return
        quoted = shown if isinstance(shown, str) else repr(shown.citations)
        ever = self.model.written | {word for at, word in self.model.ever_shared if at == place}
        own = {word for each in self.model.kept if each.home == place for word in each.text_words}
        names = {each.name_word for each in self.model.kept if each.home == place}
        self.check("evidence", quoted, place, there, more=ever | own | names)

    async def autocomplete(self, place: int, channel: str) -> None:
        platform, tenant = PLACES[place]
        if platform is Platform.DISCORD:
            spot = spot_of(tenant, channel)
            found = [
                *await self.lookup.section_titles("", spot, None),
                *await self.lookup.modules("", spot),
            ]
        else:
            books = await self.services.library.books_for(
                platform=platform, tenant=tenant, channel_id=channel
            )
            found = list(await starters_of(self.services).of(books)) if books else []
        self.check("autocomplete", " ".join(found), place, channel, more=set())

    async def gaps(self, place: int, channel: str) -> None:
        await self.services.gaps.refresh()
        told = repr(await self.steward.gaps(place_at(place, channel)))
        own = self.model.asked.get(place, set())
        self.seen["gap"] += len(planted(told) & own)
        self.check("gaps", told, place, channel, more=own | self.names_here(place))

    def names_here(self, place: int) -> set[str]:
        """A gap may name a kept answer that came near to it."""
        return {each.name_word for each in self.model.kept if each.home == place}

    async def lists(self, place: int, channel: str) -> None:
        """What admins list: books, jobs, findings, and what holds."""
        at = place_at(place, channel)
        told = [
            *(book.book_id + " " + book.title for book in await self.steward.books(at)),
            repr([(job.book_id, job.sources) for job in await self.steward.jobs(at)]),
            repr(await self.steward.policy(at)),
            repr(await self.steward.own_policy(at)),
            repr(await self.steward.modules(at)),
        ]
        if self.random.random() < 0.5:
            told.append(repr(await self.steward.findings(at)))
        tones = self.model.tones.get(place, set())
        self.check("lists", " ".join(told), place, channel, more=tones)

    async def choose(self, place: int, channel: str) -> None:
        """An admin of the place chooses any book, spelled right or wrong, or sets a tone."""
        at = place_at(place, self.random.choice([channel, EVERYWHERE]))
        own = await self.steward.own_policy(at)
        every = [LATE, "course-zqcourse", *map(own_book, range(4))]
        wanted = self.random.choice([*every, LATE, LATE, LATE, "exams"])
        tone = self.word("tone")
        changed = own.reading(wanted) if self.random.random() < 0.7 else own
        forged = ChannelPolicy(
            book_id=changed.book_id, tone=f"calm {tone}", operator_books=tuple(every)
        )
        try:
            await self.steward.set_policy(at, forged)
        except InvalidQuestion as error:
            told = error.message.replace(repr(wanted), "")
            self.check("choose", told, place, at.channel_id, more=set())
        else:
            self.model.tones.setdefault(place, set()).add(tone)

    async def bind(self, place: int, channel: str) -> None:
        """The operator binds the place's own book, with another or without, or unbinds."""
        platform, tenant = PLACES[place]
        channel = self.random.choice([channel, EVERYWHERE])
        books = self.random.choice(
            [
                [],
                [own_book(place)],
                ["course-zqcourse", own_book(place)],
                *[["course-zqcourse"]] * 3,
            ]
        )
        await self.services.library.bind(
            platform=platform, tenant=tenant, channel_id=channel or tenant, book_ids=books
        )
        self.model.bound[place, channel] = tuple(books)

    async def bind_own(self, place: int) -> None:
        """In the beginning, every place reads its own book beside the common one."""
        platform, tenant = PLACES[place]
        books = ["course-zqcourse", own_book(place)]
        await self.services.library.bind(
            platform=platform, tenant=tenant, channel_id=tenant, book_ids=books
        )
        self.model.bound[place, EVERYWHERE] = tuple(books)

    async def share(self, place: int, channel: str) -> None:
        """The operator lets another place find an answer, or takes that back."""
        if not self.model.kept:
            return
        chosen = self.random.choice(self.model.kept)
        if not chosen.is_kept:
            return
        everywhere = self.random.random() < 0.1
        other = {place} if self.random.random() < 0.5 else set()
        names = [f"{PLACES[each][0]}:{PLACES[each][1]}" for each in other]
        writing = self.services.staff_writing
        await writing.share(chosen.id, ["everywhere"] if everywhere else names)
        chosen.shared = set(range(4)) if everywhere else other
        self.model.ever_shared |= {(each, chosen.text_words[-1]) for each in chosen.shared}

    async def edit(self, place: int, channel: str) -> None:
        """Its author writes something else: that was never shared."""
        own = [each for each in self.model.kept if each.home == place]
        if not own:
            return
        shared = [each for each in own if each.shared]
        chosen = self.random.choice(shared if shared and self.random.random() < 0.7 else own)
        answer = await self.services.staffing.get(chosen.id)
        assert answer is not None
        word = self.word("said")
        await self.services.staffing.edited(answer.identity, SAID.format(word=word))
        chosen.text_words.append(word)
        before, chosen.shared = chosen.shared, set()
        for other in sorted(before):  # where it was found until now
            for near in CHANNELS:
                await self.look_up(other, near)

    async def decide(self, place: int, channel: str) -> None:
        """An admin presses a button of any kept answer; only those of their place obey."""
        if not self.model.kept or self.random.random() < 0.5:
            return
        chosen = self.random.choice(self.model.kept)
        before = await self.services.staffing.get(chosen.id)
        told = await Decisions(self.services.staffing).decide(
            "withdraw", chosen.id, by="stranger", at=PLACES[place], is_admin=True
        )
        after = await self.services.staffing.get(chosen.id)
        if chosen.home == place:
            chosen.is_kept, chosen.shared = False, set()
        else:
            assert before == after
            self.check("decide", told, place, channel, more=set())

    async def write(self, place: int, channel: str) -> None:
        """The operator writes an answer down, which is for all readers of its book."""
        if len(self.model.written) > 6:
            return
        word = self.word("note")
        draft = Draft(
            book_id=self.random.choice(["course-zqcourse", own_book(place)]),
            text=f"Bicycles stay at night near {word}.",
            author=f"Operator {word}",
        )
        await self.services.staff_writing.write(draft, by="operator")
        self.model.written.add(word)


def spot_of(tenant: TenantId, channel: str) -> Spot:
    return Spot(tenant=tenant, reads=channel, writes=channel)


def place_at(place: int, channel: str) -> Place:
    platform, tenant = PLACES[place]
    return Place(platform=platform, tenant=tenant, channel_id=channel)


CLOSED_IN_TURN: Sequence[tuple[str, ...]] = (
    (),
    (LATE,),
    (LATE, "course-zqcourse"),
    (LATE,),
)


async def test_no_word_of_one_place_is_seen_in_another(settings: Settings, tmp_path: Path) -> None:
    own = tuple(own_book(number) for number in range(4))
    world = World(Model(), seed=random.randrange(2**32))
    for turn, more in enumerate(CLOSED_IN_TURN):
        closed = settings.model_copy(update={"closed_books": ",".join((*own, *more))})
        world.model.closed = closed.books_closed
        async with open_services(closed, settings.data_dir) as services:
            world.enter(services)
            if turn == 0:
                await fill(services, tmp_path)
                for place in range(4):
                    await world.bind_own(place)
            for _ in range(OPERATIONS // len(CLOSED_IN_TURN)):
                await world.step()
    for what in ("ask", "look up", "evidence", "autocomplete", "gap", "lists", "repeat"):
        assert world.seen[what], f"{what} showed nothing, so that this says nothing of it"
    assert any(each.shared for each in world.model.kept) or world.model.ever_shared
