"""Who belongs to a user group that the settings name is staff, as Slack tells it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest

from adapters.slack.acting.staff_members import StaffMembers
from adapters.slack.calling.calls import client_on
from adapters.slack.calling.people import People
from adapters.slack.calling.team import Team
from adapters.slack.installing.teams import OneTeam
from tests.peers.slack import ANN, BEN, BOT_TOKEN, CLEO, TEAM, Fault, SlackPeer

TUTORS, COOKS, METHOD = "S0TUTORS", "S0COOKS", "usergroups.users.list"


@asynccontextmanager
async def staffed(
    peer: SlackPeer, *staff: str, kept_seconds: float = 600.0
) -> AsyncIterator[tuple[StaffMembers, Team]]:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=1.0)) as session:
        team = Team(client_on(session, base_url=peer.base, token=BOT_TOKEN))
        await team.identify()
        teams = OneTeam(team)
        people = People(teams)
        yield StaffMembers(staff, people=people, teams=teams, kept_seconds=kept_seconds), team


async def test_members_of_a_group_are_staff_and_slack_is_asked_once() -> None:
    async with SlackPeer() as peer:
        peer.world.groups = {TUTORS: [BEN], COOKS: []}
        async with staffed(peer, TUTORS, COOKS) as (staff, _):
            for _ in range(3):
                assert await staff.include(TEAM, BEN)
                assert not await staff.include(TEAM, ANN)
                assert await staff.include(TEAM, CLEO)  # an admin of the workspace
        assert [call.arguments["usergroup"] for call in peer.calls(METHOD)] == [COOKS, TUTORS]


async def test_who_is_named_needs_no_group_and_no_question() -> None:
    async with SlackPeer() as peer, staffed(peer, ANN, TUTORS) as (staff, _):
        assert await staff.include(TEAM, ANN)
        assert not peer.calls(METHOD)


async def test_a_missing_scope_is_said_once_in_words_and_admins_are_staff_all_the_same() -> None:
    async with SlackPeer() as peer:
        peer.foresees("missing_scope")
        peer.world.groups = {TUTORS: [BEN]}
        peer.api.scopes.discard("usergroups:read")
        async with staffed(peer, TUTORS) as (staff, team):
            for _ in range(3):
                assert not await staff.include(TEAM, BEN)
                assert await staff.include(TEAM, CLEO)
            [finding] = team.findings()
        assert len(peer.calls(METHOD)) == 1
        assert "user groups in SLACK_ASK_PERSON" in finding.detail
        assert "usergroups:read" in finding.advice


@pytest.mark.parametrize("fault", [Fault.SERVER_ERROR, Fault.GARBAGE, Fault.RESET])
async def test_what_slack_said_before_holds_while_it_says_nothing(fault: Fault) -> None:
    async with SlackPeer() as peer:
        peer.world.groups = {TUTORS: [BEN]}
        async with staffed(peer, TUTORS, kept_seconds=0.0) as (staff, _):
            assert await staff.include(TEAM, BEN)
            peer.fails(METHOD, fault)
            assert await staff.include(TEAM, BEN)
            peer.world.groups = {TUTORS: [ANN]}
            assert not await staff.include(TEAM, BEN)
            assert await staff.include(TEAM, ANN)


async def test_a_group_that_slack_does_not_know_has_no_members() -> None:
    async with SlackPeer() as peer:
        peer.foresees("no_such_subteam")
        async with staffed(peer, TUTORS) as (staff, _):
            assert not await staff.include(TEAM, BEN)
            assert await staff.include(TEAM, CLEO)
