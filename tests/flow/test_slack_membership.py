"""Who belongs in Slack: workspaces that are allowed, their own members, and nobody from outside."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from adapters.slack.hearing.membership import NOT_ALLOWED, OUTSIDE
from rag_core.books.policy import ChannelPolicy
from rag_core.conversation.key import Platform, TenantId
from rag_core.conversation.tenants import Trust
from rag_core.errors import ConfigurationError
from tests.fakes.installations import MemoryInstallations
from tests.fakes.markers import MemoryMarkers
from tests.fakes.slack_desk import FakeDesk, desk_that_answers
from tests.fakes.slack_house import settled, slack_at_work, until
from tests.fakes.slack_steward import SmallHouse
from tests.fakes.slack_workspaces import workspaces_at_work
from tests.fakes.tenants import MemoryTenants, slack_admissions, trusting
from tests.peers.slack import ANN, BEN, DIRECT, GENERAL, MENTION, TEAM, SlackPeer
from tests.peers.slack_cloud import ACME, BETA, SlackCloud

AWAY = "T0AWAY"
QUESTION = f"{MENTION} how many a day?"
BOTH_WAYS = pytest.mark.parametrize("over", ["socket", "http"])
SLACK = Platform.SLACK


async def decides(store: MemoryTenants, team: str, trust: Trust) -> None:
    """What `footnote servers` does in the running bot."""
    await slack_admissions(store).decide(TenantId(team), trust)


class OptedIn:
    """Every channel is answered without a mention."""

    async def policy_for(self, **place: Any) -> ChannelPolicy:
        return ChannelPolicy(auto_answer=True)


def outsider(peer: SlackPeer, person: str = BEN, home: str = AWAY) -> dict[str, str]:
    """Somebody of another workspace in a channel that both share, as events tell of them."""
    peer.world.home_of[person] = home
    return {"team": home, "user_team": home, "source_team": home}


@BOTH_WAYS
async def test_a_member_of_another_workspace_is_told_why_and_not_answered(over: str) -> None:
    desk, parts = desk_that_answers(), {"policies": OptedIn()}
    async with SlackPeer() as peer, slack_at_work(peer, desk, over=over, parts=parts):
        away = outsider(peer)
        for text in (QUESTION, QUESTION, "How many a week?"):
            ts = peer.say(GENERAL, BEN, text, **away)
        peer.edit(GENERAL, ts, "How many a month?")
        await settled(peer, desk)
        await until(lambda: bool(peer.house.told(BEN)))
        peer.say(GENERAL, ANN, QUESTION)
        await settled(peer, desk)
        assert [q.asker_id for q in desk.questions.values()] == [ANN]
        assert peer.house.told(BEN) == [OUTSIDE.format(team=AWAY)]


async def test_who_writes_directly_from_another_workspace_is_told_why_in_the_same_place() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk):
        ts = peer.say(DIRECT, ANN, "how many a day?", **outsider(peer, ANN))
        await settled(peer, desk)
        await until(lambda: bool(peer.world.replies(DIRECT, ts)))
        assert not desk.questions
        [reply] = peer.world.replies(DIRECT, ts)
        assert reply.seen == OUTSIDE.format(team=AWAY)


async def test_a_member_of_another_workspace_that_is_allowed_is_answered() -> None:
    desk, store = desk_that_answers(), MemoryTenants()
    parts = {"admissions": slack_admissions(store)}
    async with SlackPeer() as peer, slack_at_work(peer, desk, parts=parts):
        await decides(store, AWAY, Trust.ALLOWED)
        ts = peer.say(GENERAL, BEN, QUESTION, **outsider(peer))
        await settled(peer, desk)
        assert len(peer.world.replies(GENERAL, ts)) == 1
        await decides(store, AWAY, Trust.DENIED)
        peer.say(GENERAL, BEN, QUESTION, **outsider(peer))
        await settled(peer, desk)
        assert len(desk.questions) == 1


async def test_members_of_the_own_organisation_are_no_outsiders() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer:
        peer.api.enterprise = "E0OWN"
        async with slack_at_work(peer, desk):
            peer.say(GENERAL, BEN, QUESTION, **outsider(peer, home="E0OWN"))
            peer.say(GENERAL, ANN, QUESTION, **outsider(peer, ANN, home="E0OTHER"))
            await settled(peer, desk)
            assert [q.asker_id for q in desk.questions.values()] == [BEN]


async def test_commands_and_buttons_are_refused_in_words_to_people_from_outside() -> None:
    desk, house = desk_that_answers(), SmallHouse()
    parts = {"steward": house}
    async with SlackPeer() as peer, slack_at_work(peer, desk, parts=parts):
        ts = peer.say(GENERAL, ANN, QUESTION)
        await settled(peer, desk)
        outsider(peer)
        [answer] = peer.world.replies(GENERAL, ts)
        message = peer.world.channels[GENERAL].messages[ts]
        commands = [("/ask", "how many?"), ("/lookup", "limits"), ("/footnote", "forget me")]
        used = [peer.people.command(BEN, name, text, GENERAL) for name, text in commands]
        used += [
            peer.people.press(BEN, answer, "Show evidence"),
            peer.people.point_at(BEN, message),
        ]
        await settled(peer, desk)
        replies = [envelope.response["text"] for envelope in used[:3]]
        assert replies == [OUTSIDE.format(team=AWAY)] * 3
        await until(lambda: len(peer.house.told(BEN)) == 2)
        assert set(peer.house.told(BEN)) == {OUTSIDE.format(team=AWAY)}
        assert len(desk.questions) == 1
        assert not house.forgotten


async def test_a_question_from_outside_that_was_missed_is_not_answered_afterwards() -> None:
    desk, markers = desk_that_answers(), MemoryMarkers()
    async with SlackPeer() as peer:
        async with slack_at_work(peer, desk, markers=markers):
            peer.say(GENERAL, ANN, QUESTION)
            await settled(peer, desk)
        peer.say(GENERAL, BEN, QUESTION, **outsider(peer))
        peer.say(GENERAL, ANN, f"{MENTION} how many a week?")
        async with slack_at_work(peer, desk, markers=markers):
            await until(lambda: len(desk.questions) == 2)
            await settled(peer, desk)
        assert {q.asker_id for q in desk.questions.values()} == {ANN}


@BOTH_WAYS
async def test_events_of_a_workspace_that_the_token_is_not_for_are_passed_over(over: str) -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk, over=over):
        body = {
            "type": "event_callback",
            "team_id": AWAY,
            "event_id": "EvForeign",
            "authorizations": [{"team_id": AWAY, "user_id": "U1", "is_bot": True}],
            "event": {
                "type": "app_mention", "channel": GENERAL, "user": ANN, "ts": "1700000000.000001",
                "text": QUESTION, "event_ts": "1700000000.000001",
            },
        }  # fmt: skip
        told = peer.deliveries.deliver("events_api", body)
        await settled(peer, desk)
        assert told.acked_at, "or Slack would send it again"
        assert not desk.questions


async def test_a_token_of_a_whole_organisation_is_refused_at_the_start() -> None:
    async with SlackPeer() as peer:
        peer.api.for_organisation = True
        with pytest.raises(ConfigurationError, match="whole organisation"):
            async with slack_at_work(peer, desk_that_answers()):
                pass


# A workspace that the operator denies


@BOTH_WAYS
async def test_a_denied_workspace_is_silent_at_once_but_for_one_sentence(over: str) -> None:
    desk, store = desk_that_answers(), MemoryTenants()
    parts = {"admissions": slack_admissions(store), "steward": SmallHouse()}
    async with SlackPeer() as peer, slack_at_work(peer, desk, over=over, parts=parts):
        ts = peer.say(GENERAL, ANN, QUESTION)
        await settled(peer, desk)
        assert store.trust == {(SLACK, TenantId(TEAM)): Trust.ALLOWED}
        await decides(store, TEAM, Trust.DENIED)
        denied = peer.say(GENERAL, ANN, QUESTION)
        peer.say(GENERAL, ANN, "and a week?", thread_ts=ts)
        peer.say(DIRECT, ANN, "how many a month?")
        used = peer.people.command(ANN, "/ask", "how many?")
        peer.people.open_home(ANN)
        peer.people.open_pane(ANN)
        await settled(peer, desk)
        await until(lambda: bool(told_in(peer)))
        assert used.response["text"] == NOT_ALLOWED.format(team=TEAM)
        assert len(desk.questions) == 1
        assert not peer.house.homes
        assert not peer.house.prompts
        await decides(store, TEAM, Trust.ALLOWED)
        peer.say(GENERAL, ANN, QUESTION)
        await settled(peer, desk)
        assert len(desk.questions) == 2
        assert told_in(peer) == [NOT_ALLOWED.format(team=TEAM)]
        assert denied not in {q.message_id for q in desk.questions.values()}


def told_in(peer: SlackPeer) -> list[str]:
    posts = peer.world.everything_of_the_bot()
    return [post.seen for post in posts if "allow it first" in post.seen]


async def test_what_was_asked_before_a_workspace_was_denied_is_not_answered_after_it() -> None:
    desk, store = desk_that_answers(), MemoryTenants()
    parts = {"admissions": slack_admissions(store)}
    async with SlackPeer() as peer, slack_at_work(peer, desk, parts=parts):
        desk.hold.clear()
        ts = peer.say(GENERAL, ANN, QUESTION)
        await peer.heard()
        await until(lambda: bool(desk.questions))
        await decides(store, TEAM, Trust.DENIED)
        desk.hold.set()
        await settled(peer, desk)
        assert not peer.world.replies(GENERAL, ts)
        assert desk.given_up == ["slack: the workspace is not allowed"]


# Workspaces that install the app by themselves


def asks(cloud: SlackCloud, team: str) -> str:
    return cloud.workspaces[team].say(GENERAL, ANN, QUESTION)


async def all_settled(cloud: SlackCloud, desk: FakeDesk) -> None:
    async with asyncio.timeout(10):
        for _ in range(2):
            await asyncio.gather(*cloud.deliveries.unfinished())
            await desk.idle.wait()


async def test_the_first_workspace_that_installs_the_app_is_trusted_and_later_ones_wait() -> None:
    desk, store = desk_that_answers(), MemoryTenants()
    parts = {"admissions": slack_admissions(store)}
    async with (
        SlackCloud(ACME, BETA) as cloud,
        workspaces_at_work(cloud, desk, parts=parts) as at_work,
    ):
        assert (await at_work.browser.installs(ACME)).status_code == 200
        refused = await at_work.browser.installs(BETA)
        assert refused.status_code == 403
        assert f"footnote servers allow {BETA}" in refused.text
        assert list(at_work.installations.kept) == [ACME]
        [waiting] = [f for f in await at_work.platform.findings() if f.is_warning]
        assert BETA in waiting.detail
        await decides(store, BETA, Trust.ALLOWED)
        assert (await at_work.browser.installs(BETA)).status_code == 200
        ts = asks(cloud, BETA)
        await all_settled(cloud, desk)
        assert len(cloud.workspaces[BETA].world.replies(GENERAL, ts)) == 1


async def test_workspaces_that_were_installed_before_are_trusted_at_the_first_start() -> None:
    desk, kept, store = desk_that_answers(), MemoryInstallations(), MemoryTenants()
    async with SlackCloud(ACME, BETA) as cloud:
        async with workspaces_at_work(cloud, desk, installations=kept) as at_work:
            for team in (ACME, BETA):
                await at_work.browser.installs(team)
        parts = {"admissions": slack_admissions(store)}
        async with workspaces_at_work(cloud, desk, installations=kept, parts=parts):
            for team in (ACME, BETA):
                asks(cloud, team)
            await all_settled(cloud, desk)
        assert {q.key.tenant for q in desk.questions.values()} == {ACME, BETA}
        assert set(store.trust.values()) == {Trust.ALLOWED}


async def test_a_workspace_that_is_denied_after_it_was_installed_is_not_heard() -> None:
    desk = desk_that_answers()
    store = trusting(SLACK, ACME, BETA)
    markers = MemoryMarkers()
    parts = {"admissions": slack_admissions(store), "markers": markers}
    async with SlackCloud(ACME, BETA) as cloud:
        async with workspaces_at_work(cloud, desk, parts=parts) as at_work:
            for team in (ACME, BETA):
                await at_work.browser.installs(team)
                asks(cloud, team)
            await all_settled(cloud, desk)
            heard = [f"slack:heard:{team}" for team in (ACME, BETA)]
            await until(lambda: all(GENERAL in markers.values.get(name, "") for name in heard))
            await decides(store, BETA, Trust.DENIED)
        for team in (ACME, BETA):
            asks(cloud, team)  # nobody listens
            cloud.workspaces[team].api.calls.clear()
        async with workspaces_at_work(
            cloud, desk, installations=at_work.installations, parts=parts
        ):
            acme = cloud.workspaces[ACME].api
            await until(lambda: any(c.method == "conversations.history" for c in acme.calls))
            await until(lambda: len(desk.questions) == 3)
            await all_settled(cloud, desk)
        assert [q.key.tenant for q in desk.questions.values()].count(TenantId(BETA)) == 1
        methods = {call.method for call in cloud.workspaces[BETA].api.calls}
        assert "conversations.history" not in methods
