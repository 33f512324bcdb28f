"""What is typed, pointed at and opened in Slack: commands, shortcut, pane and Home tab."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from adapters.closed_passages import ClosedPassages
from adapters.passages import Passages
from adapters.review import NOT_OPEN
from adapters.slack.acting.commands import NOT_TAKEN, NOTHING_FOUND, SEARCHING
from adapters.slack.acting.house_keeping import ADMINS_ONLY, FORGOTTEN
from adapters.slack.acting.shortcut import NO_WORDS
from adapters.slack.config import CommandNames
from rag_core.books.audience import Audience
from rag_core.books.book import BookIds
from rag_core.books.policy import ChannelPolicy, Place
from rag_core.books.rules import Rules
from rag_core.conversation.key import Platform, TenantId
from rag_core.retrieval.query import SearchQuery
from rag_core.retrieval.results import SearchResponse, SearchResult
from tests.builders import a_result
from tests.fakes.slack_desk import FakeDesk, desk_that_answers
from tests.fakes.slack_house import settled, slack_at_work, until
from tests.fakes.slack_steward import SmallHouse
from tests.fakes.tenants import slack_admissions, trusting
from tests.peers.slack import ANN, BEN, CLEO, DIRECT, ELSEWHERE, GENERAL, TEAM, SlackPeer
from tests.peers.slack_house import Whisper, controls_in
from tests.peers.slack_rules import check_message, texts_of
from tests.peers.slack_socket import Envelope

BOTH_WAYS = pytest.mark.parametrize("over", ["socket", "http"])

ONLY_HERE = ("handbook",)


class Shelf:
    """One book, one page, and what was looked for."""

    def __init__(self, *results: SearchResult, books: BookIds | None = None) -> None:
        self.results = results
        self.books = BookIds(["handbook"]) if books is None else books
        self.queries: list[SearchQuery] = []

    async def search(self, query: SearchQuery) -> SearchResponse:
        self.queries.append(query)
        found = self.results
        return SearchResponse(query=query.text, results=found, total_found=len(found))

    async def policy_for(self, **place: Any) -> ChannelPolicy:
        return ChannelPolicy(modules=ONLY_HERE)

    async def rules_for(
        self, *, platform: Platform, tenant: TenantId, channel_id: str, category_id: str = ""
    ) -> Rules:
        policy = await self.policy_for()
        audience = Audience(platform=platform, tenant=tenant)
        return Rules(policy=policy, books=self.books, audience=audience)

    async def books_for(self, **place: Any) -> BookIds | None:
        return self.books

    async def of(self, books: BookIds) -> Sequence[str]:
        return ["How many days of vacation are there?", "Who is on call?"]

    async def asked_by(self, **asker: Any) -> Sequence[str]:
        return ["What about <trains>?"]

    @property
    def parts(self) -> dict[str, Any]:
        passages = Passages(searches=self, library=self, seconds=2.0)
        return {"passages": passages, "library": self, "starters": self, "asked": self}


async def said_to(peer: SlackPeer, envelope: Envelope) -> str:
    """What a command is answered at once."""
    await peer.heard()
    assert envelope.acked_at
    check_message(envelope.response)
    assert envelope.response["response_type"] == "ephemeral"
    shown = list(texts_of(envelope.response.get("blocks") or ()))
    return "\n".join(shown) or str(envelope.response["text"])


async def private_answer(peer: SlackPeer, desk: FakeDesk, channel: str = GENERAL) -> Whisper:
    await said_to(peer, peer.people.command(ANN, "/ask", "how many a day?", channel))
    await settled(peer, desk)
    await until(lambda: bool(peer.house.whispers))
    return peer.house.whispers[-1]


@BOTH_WAYS
async def test_ask_answers_for_one_person_alone(over: str) -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk, over=over):
        peer.world.locales[ANN] = "de-DE"
        command = peer.people.command(ANN, "/ask", "how many a day?", GENERAL)
        assert await said_to(peer, command) == SEARCHING
        await settled(peer, desk)
        await until(lambda: bool(peer.house.whispers))
        assert "Ten a day [1]." in peer.house.told(ANN)[-1]
        assert not list(peer.world.everything_of_the_bot())
        [question] = desk.questions.values()
        assert (question.private, question.locale) == (True, "de-DE")
        labels = [label for label, _ in controls_in(peer.house.whispers[-1].blocks)]
        assert labels == ["Helpful", "Not helpful", "Show evidence", "Share", "Keep"]


async def test_ask_works_where_the_bot_is_not_and_long_answers_go_on_in_private() -> None:
    desk = desk_that_answers("\n\n".join(f"Paragraph {n}. " + "word " * 900 for n in range(20)))
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        first = await private_answer(peer, desk, ELSEWHERE)
        assert first.channel == ELSEWHERE
        assert len(peer.house.whispers) == 5
        rest = peer.calls("chat.postMessage")
        assert rest
        assert {call.arguments["channel"] for call in rest} == {ANN}


async def test_a_private_answer_is_shared_once() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        whisper = await private_answer(peer, desk)
        for _ in range(2):
            peer.people.press(ANN, whisper, "Share")
        await until(lambda: whisper.text == "Shared in this channel.")
        await peer.heard()
        head, answer = peer.world.everything_of_the_bot()
        assert "How many a day?" in head.seen
        assert "Ten a day [1]." in answer.seen
        assert answer.thread_ts == head.ts
        assert [label for label, _ in controls_in(answer.blocks)] == [
            "Helpful",
            "Not helpful",
            "Show evidence",
        ]


class EverythingClosed:
    """A house whose books were all closed after it answered."""

    async def closed_to(self, place: Place, *, category_id: str = "") -> frozenset[str]:
        return frozenset({"exam"})

    async def chunks(self, chunk_ids: Sequence[str], *, books: BookIds) -> Sequence[str]:
        return chunk_ids


async def test_an_answer_from_a_book_that_was_closed_since_is_neither_shared_nor_quoted() -> None:
    desk, everything = desk_that_answers(), EverythingClosed()
    closed = ClosedPassages(library=everything, index=everything)
    async with SlackPeer() as peer, slack_at_work(peer, desk, parts={"closed": closed}):
        whisper = await private_answer(peer, desk)
        for press in ("Share", "Show evidence"):
            before = len(peer.house.told(ANN))
            peer.people.press(ANN, whisper, press)
            await until(lambda before=before: len(peer.house.told(ANN)) > before)
            assert peer.house.told(ANN)[-1] == NOT_OPEN
        assert not list(peer.world.everything_of_the_bot())


async def test_a_private_answer_that_cannot_be_shared_there_says_why() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        peer.foresees("not_in_channel")
        whisper = await private_answer(peer, desk, ELSEWHERE)
        peer.people.press(ANN, whisper, "Share")
        await until(lambda: any("/invite" in told for told in peer.house.told(ANN)))


async def test_a_private_answer_is_kept_without_its_choice() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        whisper = await private_answer(peer, desk)
        peer.people.press(ANN, whisper, "Keep")
        await until(lambda: "Share" not in dict(controls_in(whisper.blocks)))
        assert "Ten a day [1]." in whisper.seen
        assert "Helpful" in dict(controls_in(whisper.blocks))


async def test_a_question_that_cannot_be_written_down_is_said_at_once() -> None:
    desk = desk_that_answers()
    desk.failing = 1
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        said = await said_to(peer, peer.people.command(ANN, "/ask", "how many?"))
        assert said == NOT_TAKEN
        said = await said_to(peer, peer.people.command(ANN, "/ask", "  "))
        assert "/ask How do I" in said


@BOTH_WAYS
async def test_lookup_shows_passages_with_their_links(over: str) -> None:
    desk = desk_that_answers()
    page = "https://docs.example/limits#daily"
    shelf = Shelf(
        a_result(text="Ten <a> day. " * 40, page_title="Limits", page_url=page),
        a_result(text="Two a week.", page_title="", page_url=None, source_file="weeks.md"),
    )
    async with SlackPeer() as peer, slack_at_work(peer, desk, over=over, parts=shelf.parts):
        said = await said_to(peer, peer.people.command(ANN, "/lookup", "limits", GENERAL))
        assert f"<{page}|Limits" in said
        assert "Ten &lt;a&gt; day." in said
        assert "weeks.md" in said
        [query] = shelf.queries
        assert (query.text, list(query.book_ids)) == ("limits", ["handbook"])
        assert query.filters.modules == ONLY_HERE, "what a place may not show is not looked up"
        assert not desk.questions


async def test_lookup_says_what_is_wrong_in_words() -> None:
    desk, shelf = desk_that_answers(), Shelf()
    async with SlackPeer() as peer, slack_at_work(peer, desk, parts=shelf.parts):
        use = peer.people.command
        assert await said_to(peer, use(ANN, "/lookup", "limits")) == NOTHING_FOUND
        assert "at least 3" in await said_to(peer, use(ANN, "/lookup", "x"))
        assert "behind /lookup" in await said_to(peer, use(ANN, "/lookup", ""))


@BOTH_WAYS
async def test_the_house_command_lists_what_concerns_everybody(over: str) -> None:
    desk, house = desk_that_answers(), SmallHouse()
    async with (
        SlackPeer() as peer,
        slack_at_work(peer, desk, over=over, parts={"steward": house}),
    ):
        use = peer.people.command
        assert "`/ask QUESTION`" in await said_to(peer, use(BEN, "/footnote", ""))
        assert "I do not know" in await said_to(peer, use(BEN, "/footnote", "dance <!here>"))
        books = await said_to(peer, use(BEN, "/footnote", "books"))
        assert "*The &lt;handbook&gt;* (`handbook`): 3 files" in books
        assert "forget me" in await said_to(peer, use(BEN, "/footnote", "forget"))
        assert not house.forgotten
        assert await said_to(peer, use(BEN, "/footnote", "forget me")) == FORGOTTEN
        assert house.forgotten == [BEN]


@pytest.mark.parametrize("words", ["channel", "doctor", "jobs", "gaps", "channel auto on"])
async def test_only_admins_see_and_set_what_is_theirs(words: str) -> None:
    desk, house = desk_that_answers(), SmallHouse()
    both = slack_admissions(trusting(Platform.SLACK, TEAM, "T0OTHER"))
    async with (
        SlackPeer() as peer,
        slack_at_work(peer, desk, admins=(BEN,), parts={"steward": house, "admissions": both}),
    ):
        use = peer.people.command
        assert await said_to(peer, use(ANN, "/footnote", words)) == ADMINS_ONLY
        assert not house.policies
        for admin in (BEN, CLEO):
            assert await said_to(peer, use(admin, "/footnote", words)) != ADMINS_ONLY
        peer.world.home_of[CLEO] = "T0OTHER"
        assert await said_to(peer, use(CLEO, "/footnote", words)) == ADMINS_ONLY


async def test_admins_decide_what_holds_in_a_channel() -> None:
    desk, house = desk_that_answers(), SmallHouse()
    place = Place(platform=Platform.SLACK, tenant=TenantId(TEAM), channel_id=GENERAL)
    async with SlackPeer() as peer, slack_at_work(peer, desk, parts={"steward": house}):

        async def use(words: str) -> str:
            command = peer.people.command(CLEO, "/footnote", words, GENERAL)
            return await said_to(peer, command)

        for words in ("book handbook", "auto on", "hints off", "tone short & friendly"):
            await use(f"channel {words}")
        policy = house.policies[place]
        assert (policy.book_id, policy.auto_answer, policy.hint_only) == ("handbook", True, False)
        assert policy.tone == "short & friendly"
        assert "short &amp; friendly" in await use("channel")
        await use("channel auto default")
        assert house.policies[place].auto_answer is None
        assert "no book 'novel'" in await use("channel book novel")
        assert "on, off or default" in await use("channel auto perhaps")
        assert "There is no setting" in await use("channel colour red")


async def test_admins_read_what_is_missing_and_what_was_asked_in_vain() -> None:
    desk, house = desk_that_answers(), SmallHouse()
    async with SlackPeer() as peer, slack_at_work(peer, desk, parts={"steward": house}):
        use = peer.people.command
        assert "Add it." in await said_to(peer, use(CLEO, "/footnote", "doctor"))
        gaps = await said_to(peer, use(CLEO, "/footnote", "gaps"))
        assert "4 × Who pays for &lt;trains&gt;?" in gaps
        assert "<https://docs.example/t|Trips>" in gaps
        assert "`handbook` full completed" in await said_to(peer, use(CLEO, "/footnote", "jobs"))


async def test_commands_go_by_the_names_that_the_settings_give_them() -> None:
    desk = desk_that_answers()
    names = CommandNames(ask="/docs", lookup="/find", house="/docs-bot")
    async with SlackPeer() as peer, slack_at_work(peer, desk, names=names):
        assert await said_to(peer, peer.people.command(ANN, "/docs", "how many?")) == SEARCHING
        said = await said_to(peer, peer.people.command(ANN, "/ask", "how many?"))
        assert said == "I do not know this command."


@BOTH_WAYS
async def test_the_shortcut_answers_a_message_in_its_thread(over: str) -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk, over=over):
        ts = peer.say(GENERAL, BEN, "how many a day?")
        await peer.heard()
        assert not desk.questions
        message = peer.world.channels[GENERAL].messages[ts]
        for _ in range(2):
            peer.people.point_at(ANN, message)
            await settled(peer, desk)
        assert len(peer.world.replies(GENERAL, ts)) == 1
        [question] = desk.questions.values()
        assert (question.asker_id, question.question.message) == (ANN, "how many a day?")
        empty = peer.say(GENERAL, BEN, " ")
        peer.people.point_at(ANN, peer.world.channels[GENERAL].messages[empty])
        await until(lambda: NO_WORDS in peer.house.told(ANN))


@BOTH_WAYS
async def test_the_pane_proposes_questions_and_takes_its_title_from_the_first(over: str) -> None:
    desk, shelf = desk_that_answers(), Shelf()
    async with SlackPeer() as peer, slack_at_work(peer, desk, over=over, parts=shelf.parts):
        thread = peer.people.open_pane(ANN)
        await until(lambda: (DIRECT, thread) in peer.house.prompts)
        messages = [p["message"] for p in peer.house.prompts[DIRECT, thread]]
        assert messages == ["How many days of vacation are there?", "Who is on call?"]
        peer.say(DIRECT, ANN, "how many a day?", thread_ts=thread)
        await settled(peer, desk)
        await until(lambda: peer.house.titles.get((DIRECT, thread)) == "how many a day?")
        peer.say(DIRECT, ANN, "and in a week?", thread_ts=thread)
        await settled(peer, desk)
        assert peer.house.titles[DIRECT, thread] == "how many a day?"
        assert len(peer.world.replies(DIRECT, thread)) == 2


async def test_a_workspace_without_the_pane_is_asked_once() -> None:
    desk, shelf = desk_that_answers(), Shelf()
    async with SlackPeer() as peer, slack_at_work(peer, desk, parts=shelf.parts) as platform:
        peer.foresees("missing_scope")
        peer.api.scopes.discard("assistant:write")
        for _ in range(3):
            peer.people.open_pane(ANN)
        await peer.heard()
        await until(lambda: bool(peer.calls("assistant.threads.setSuggestedPrompts")))
        peer.people.open_pane(ANN)
        await peer.heard()
        found = [f for f in await platform.findings() if "assistant:write" in f.detail]
        assert found
        assert "footnote manifest slack" in found[0].advice


@BOTH_WAYS
async def test_home_shows_what_is_known_and_to_admins_what_is_wrong(over: str) -> None:
    desk, shelf = desk_that_answers(), Shelf()
    parts = shelf.parts | {"steward": SmallHouse()}
    async with SlackPeer() as peer, slack_at_work(peer, desk, over=over, parts=parts):
        for user in (ANN, CLEO):
            peer.people.open_home(user)
        await until(lambda: {ANN, CLEO} <= peer.house.homes.keys())
        for_all, for_admins = (
            "\n".join(texts_of(peer.house.homes[user]["blocks"])) for user in (ANN, CLEO)
        )
        for shown in (for_all, for_admins):
            assert "The &lt;handbook&gt;" in shown
            assert "What about &lt;trains&gt;?" in shown
            assert "`/lookup`" in shown
        assert "Asked in vain" not in for_all
        assert "Who pays for &lt;trains&gt;?" in for_admins
        assert "Add it." in for_admins


async def test_what_a_workspace_says_stays_its_own_when_a_channel_says_something() -> None:
    desk, house = desk_that_answers(), SmallHouse()
    everywhere = Place(platform=Platform.SLACK, tenant=TenantId(TEAM))
    house.policies[everywhere] = ChannelPolicy(tone="short")
    async with SlackPeer() as peer, slack_at_work(peer, desk, parts={"steward": house}):
        command = peer.people.command(CLEO, "/footnote", "channel auto on", GENERAL)
        assert "short" in await said_to(peer, command)

    assert house.policies[replace(everywhere, channel_id=GENERAL)] == ChannelPolicy(
        auto_answer=True
    )
