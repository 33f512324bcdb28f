"""Where the bot hears in Slack but may not speak: said at once, clearly, and until it is mended."""

from __future__ import annotations

import logging

import pytest

from adapters.slack.app import open_slack
from adapters.slack.calling.troubles import Trouble
from rag_core.conversation.key import TenantId
from tests.fakes.slack_desk import desk_that_answers
from tests.fakes.slack_house import config_for, owned, parts_for, settled, slack_at_work, until
from tests.peers.slack import ANN, GENERAL, MENTION, TEAM, SlackPeer

QUESTION = f"{MENTION} how many a day?"


@pytest.mark.parametrize("tenant", [None, TenantId(TEAM)])
async def test_a_token_that_may_not_write_is_not_ready_and_is_said_before_anybody_asks(
    tenant: TenantId | None, caplog: pytest.LogCaptureFixture
) -> None:
    async with SlackPeer() as peer:
        peer.api.scopes.discard("chat:write")
        config = config_for(peer, look_seconds=0.05)
        async with (
            open_slack(config, parts_for(desk_that_answers())) as platform,
            owned(platform.run()),
        ):
            assert platform.socket is not None
            await until(lambda: platform.socket is not None and platform.socket.is_ready)
            assert not platform.is_ready
            [finding] = await platform.findings(tenant=tenant)
            assert not finding.in_place
            assert "chat:write" in finding.detail
            assert "answers cannot be posted" in finding.detail
            assert "install it anew" in finding.advice
            said = [r for r in caplog.records if "chat:write" in r.getMessage()]
            assert [record.levelno for record in said] == [logging.WARNING]
            # The app is installed anew: its token is the same and may do more.
            peer.api.scopes.add("chat:write")
            await until(lambda: platform.is_ready)
            [well] = await platform.findings(tenant=tenant)
            assert "lacks nothing" in well.detail


async def test_any_other_missing_scope_is_found_before_it_is_needed() -> None:
    async with SlackPeer() as peer:
        peer.api.scopes -= {"reactions:write", "users:read"}
        peer.foresees("missing_scope")
        async with slack_at_work(peer, desk_that_answers()) as platform:
            [finding] = await platform.findings()
            assert finding.detail == "lack reactions:write, users:read."
            assert platform.is_ready


async def test_a_question_that_cannot_be_answered_gets_a_sign_and_readiness_ends() -> None:
    desk = desk_that_answers()
    async with SlackPeer() as peer, slack_at_work(peer, desk) as platform:
        peer.foresees("missing_scope")
        peer.api.scopes.discard("chat:write")
        ts = peer.say(GENERAL, ANN, QUESTION)
        await settled(peer, desk)
        assert (GENERAL, ts, "mute") in peer.house.reactions
        assert not platform.is_ready
        assert not any("lacks nothing" in each.detail for each in await platform.findings())


async def test_many_channels_that_refuse_the_same_are_one_finding() -> None:
    async with SlackPeer() as peer, slack_at_work(peer, desk_that_answers()) as platform:
        team = platform.teams.of(TEAM)
        peer.foresees("channel_not_found", "not_in_channel")
        for number in range(40):
            team.troubles.note(
                Trouble("chat.postMessage", "not_in_channel", place=f"C{number:02d}")
            )
        team.troubles.note(Trouble("chat.postMessage", "is_archived", place="C99"))
        many, one = await platform.findings()
        assert "in C00, C01, C02, C03, C04 and 35 more" in many.detail
        assert "in C99 (is_archived)" in one.detail
        assert many.name != one.name
