"""Several workspaces install the app, and each has its own token, answers and end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from http.cookies import SimpleCookie

import pytest

from adapters.slack.installing.state import BROWSER_LENGTH, Fault, InstallStates
from rag_core.conversation.installation import Unreadable
from rag_core.conversation.key import Platform, TenantId
from tests.fakes.answers import an_answer
from tests.fakes.installations import MemoryInstallations
from tests.fakes.slack_desk import FakeDesk
from tests.fakes.slack_house import until
from tests.fakes.slack_workspaces import workspaces_at_work
from tests.fakes.tenants import slack_admissions
from tests.peers.slack import ANN, BOT_USER, GENERAL, MENTION
from tests.peers.slack_cloud import ACME, BETA, CLIENT_SECRET, SlackCloud

BOTH_WAYS = pytest.mark.parametrize("over", ["socket", "http"])


def desk_that_answers() -> FakeDesk:
    """Every answer says for which workspace it is."""
    return FakeDesk(lambda question: an_answer(f"For {question.key.tenant}: ten a day [1]."))


@pytest.fixture
async def cloud() -> AsyncIterator[SlackCloud]:
    async with SlackCloud(ACME, BETA) as cloud:
        yield cloud


async def settled(cloud: SlackCloud, desk: FakeDesk) -> None:
    async with asyncio.timeout(10):
        for _ in range(2):
            await asyncio.gather(*cloud.deliveries.unfinished())
            await desk.idle.wait()


def asks(cloud: SlackCloud, team: str) -> str:
    return cloud.workspaces[team].say(GENERAL, ANN, f"{MENTION} how many a day?")


def answers(cloud: SlackCloud, team: str, ts: str) -> list[str]:
    return [reply.seen for reply in cloud.workspaces[team].world.replies(GENERAL, ts)]


@BOTH_WAYS
async def test_two_workspaces_are_answered_at_once_each_with_its_own_token(
    cloud: SlackCloud, over: str
) -> None:
    desk = desk_that_answers()
    async with workspaces_at_work(cloud, desk, over=over) as at_work:
        for team in (ACME, BETA):
            page = await at_work.browser.installs(team)
            assert page.status_code == 200
            assert f"is installed in {team} &amp; &lt;Sons&gt;" in page.text
        # The same channel, the same person, the same moment: only the workspace differs.
        asked = {team: asks(cloud, team) for team in (ACME, BETA)}
        assert asked[ACME] == asked[BETA]
        await settled(cloud, desk)
        for team, other in ((ACME, BETA), (BETA, ACME)):
            [answer] = answers(cloud, team, asked[team])
            assert f"For {team}" in answer
            assert other not in answer
        assert all(f.in_place for f in await at_work.platform.findings())


@BOTH_WAYS
async def test_an_uninstalled_workspace_is_gone_and_the_other_goes_on(
    cloud: SlackCloud, over: str
) -> None:
    desk = desk_that_answers()
    async with workspaces_at_work(cloud, desk, over=over) as at_work:
        for team in (ACME, BETA):
            await at_work.browser.installs(team)
        cloud.uninstall(ACME)
        await until(lambda: list(at_work.installations.kept) == [BETA])
        asks(cloud, ACME)
        ts = asks(cloud, BETA)
        await settled(cloud, desk)
        assert len(answers(cloud, BETA, ts)) == 1
        assert [question.key.tenant for question in desk.questions.values()] == [BETA]
        assert at_work.platform.is_ready
        # Installed anew, it is as it was before.
        await at_work.browser.installs(ACME)
        ts = asks(cloud, ACME)
        await settled(cloud, desk)
        assert len(answers(cloud, ACME, ts)) == 1


async def test_an_uninstallation_that_nobody_told_of_is_found_out(cloud: SlackCloud) -> None:
    desk, kept = desk_that_answers(), MemoryInstallations()
    async with workspaces_at_work(cloud, desk, installations=kept) as at_work:
        await at_work.browser.installs(ACME)
        await at_work.browser.installs(BETA)
    cloud.uninstall(ACME, tells=False)
    async with workspaces_at_work(cloud, desk, installations=kept):
        await until(lambda: list(kept.kept) == [BETA])
        cloud.uninstall(BETA, tells=False, refused="token_revoked")
        ts = asks(cloud, BETA)
        await until(lambda: not kept.kept)
        assert not answers(cloud, BETA, ts)


async def test_word_of_a_removal_that_comes_after_the_next_installation_removes_nothing(
    cloud: SlackCloud,
) -> None:
    desk = desk_that_answers()
    async with workspaces_at_work(cloud, desk) as at_work:
        await at_work.browser.installs(ACME)
        cloud.uninstall(ACME, tells=False)
        await at_work.browser.installs(ACME)
        cloud.tell_uninstalled(ACME)
        await settled(cloud, desk)
        await asyncio.sleep(0.5)
        ts = asks(cloud, ACME)
        await settled(cloud, desk)
        assert len(answers(cloud, ACME, ts)) == 1


async def test_the_tokens_go_within_the_bound_while_slack_is_silent(cloud: SlackCloud) -> None:
    desk = desk_that_answers()
    async with workspaces_at_work(cloud, desk) as at_work:
        await at_work.browser.installs(ACME)
        cloud.is_away = True
        cloud.tell_uninstalled(ACME)
        await until(lambda: not at_work.installations.kept)


async def test_a_removal_that_cannot_be_stored_is_tried_again(cloud: SlackCloud) -> None:
    desk = desk_that_answers()
    async with workspaces_at_work(cloud, desk, look_seconds=60.0) as at_work:
        await at_work.browser.installs(ACME)
        at_work.installations.failing = 3
        cloud.uninstall(ACME)
        await until(lambda: not at_work.installations.kept)


@pytest.mark.parametrize("forgets", [True, False])
async def test_what_was_asked_goes_with_the_app_where_the_settings_say_so(
    cloud: SlackCloud, forgets: bool
) -> None:
    forgotten: list[str] = []

    class Forgetting:
        async def tenant(self, *, platform: Platform, tenant: TenantId) -> int:
            forgotten.append(f"{platform} {tenant}")
            return 0

    desk, parts = desk_that_answers(), {"forgetting": Forgetting()}
    async with workspaces_at_work(cloud, desk, parts=parts, forgets=forgets) as at_work:
        for team in (ACME, BETA):
            await at_work.browser.installs(team)
        cloud.uninstall(ACME)
        cloud.uninstall(BETA, tells=False)  # only a token was revoked
        cloud.workspaces[BETA].emit(
            {"type": "tokens_revoked", "event_ts": "1.1", "tokens": {"bot": [BOT_USER]}}
        )
        await until(lambda: not at_work.installations.kept)
        await until(lambda: len(forgotten) == int(forgets))
        assert forgotten == (["slack T0ACME"] if forgets else [])


async def test_a_workspace_that_another_host_let_in_is_heard_at_once(cloud: SlackCloud) -> None:
    desk, kept = desk_that_answers(), MemoryInstallations()
    async with workspaces_at_work(cloud, desk, installations=kept) as at_work:
        await at_work.browser.installs(ACME)
    elsewhere, kept.kept = dict(kept.kept), {}
    async with workspaces_at_work(cloud, desk, installations=kept, look_seconds=60.0) as at_work:
        await asyncio.sleep(1.1)  # so often is looked for what is not known
        kept.kept = elsewhere
        ts = asks(cloud, ACME)
        await settled(cloud, desk)
        assert len(answers(cloud, ACME, ts)) == 1


async def test_tokens_are_renewed_before_and_after_they_run_out(cloud: SlackCloud) -> None:
    desk = desk_that_answers()
    cloud.rotates_after = 3_600.0
    async with workspaces_at_work(cloud, desk, renew_before=60.0) as at_work:
        await at_work.browser.installs(ACME)
        first = cloud.tokens_of(ACME)
        cloud.run_out(ACME)
        cloud.workspaces[ACME].foresees("token_expired")
        ts = asks(cloud, ACME)
        await until(lambda: len(cloud.tokens_of(ACME)) == 2)
        await settled(cloud, desk)
        assert len(answers(cloud, ACME, ts)) == 1
        assert cloud.exchanges == ["ok", "ok"]
        assert all(f.in_place for f in await at_work.platform.findings())
    async with workspaces_at_work(
        cloud, desk, installations=at_work.installations, renew_before=7_200.0
    ):
        await until(lambda: len(cloud.tokens_of(ACME)) >= 3)
    assert first[0] in cloud.tokens


async def test_a_renewed_token_that_cannot_be_stored_is_kept_until_it_can(
    cloud: SlackCloud,
) -> None:
    desk, kept = desk_that_answers(), MemoryInstallations()
    cloud.rotates_after = 3_600.0
    async with workspaces_at_work(cloud, desk, installations=kept, renew_before=60.0) as at_work:
        await at_work.browser.installs(ACME)
        before = await kept.get(Platform.SLACK, TenantId(ACME))
        save, failures = kept.save, 3

        async def fails_at_first(installation: object) -> None:
            nonlocal failures
            failures -= 1
            kept.failing = int(failures >= 0)
            await save(installation)  # type: ignore[arg-type]

        kept.save = fails_at_first  # type: ignore[method-assign]
        cloud.run_out(ACME)
        cloud.workspaces[ACME].foresees("token_expired")
        asks(cloud, ACME)
        await until(lambda: failures < 0)
        await until(lambda: kept.kept[TenantId(ACME)] != before)
    assert cloud.exchanges == ["ok", "ok"], "a renewal's word is good once"


async def test_whoever_says_no_is_told_that_nothing_was_changed(cloud: SlackCloud) -> None:
    async with workspaces_at_work(cloud, desk_that_answers()) as at_work:
        page = await at_work.browser.goes(cloud.denies(await at_work.browser.begins()))
        assert page.status_code == 200
        assert "Nothing was changed" in page.text
        assert not at_work.installations.kept
        assert not cloud.exchanges


async def test_a_state_is_good_once_and_in_one_browser(cloud: SlackCloud) -> None:
    async with workspaces_at_work(cloud, desk_that_answers()) as at_work:
        browser = at_work.browser
        back = cloud.decides(await browser.begins(), ACME)
        assert (await browser.goes(back)).status_code == 200
        replayed = await browser.goes(back)
        assert (replayed.status_code, "used already" in replayed.text) == (400, True)
        back = cloud.decides(await browser.begins(), BETA)
        for wrong in (
            back.replace("state=", "state=9"),
            back.partition("&state")[0],
            f"{back}{'x' * 5_000}",
            back[:-1] + ("0" if back[-1] != "0" else "1"),
        ):
            assert (await browser.goes(wrong)).status_code == 400
        browser.client.cookies.clear()
        page = await browser.goes(back)
        assert (page.status_code, "did not begin" in page.text) == (400, True)
        assert list(at_work.installations.kept) == [ACME]
        assert cloud.exchanges == ["ok"]


async def test_a_state_is_good_for_a_while(cloud: SlackCloud) -> None:
    async with workspaces_at_work(cloud, desk_that_answers(), state_seconds=-1.0) as at_work:
        begun = await at_work.browser.client.get(f"{at_work.browser.base}/slack/install")
        cookie = SimpleCookie(begun.headers["set-cookie"])["footnote_slack_install"]
        assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Lax", "/slack")
        at_work.browser.client.cookies.set("footnote_slack_install", cookie.value)
        page = await at_work.browser.goes(cloud.decides(begun.headers["location"], ACME))
        assert (page.status_code, "longer than" in page.text) == (400, True)
        assert not cloud.exchanges


def test_a_state_holds_until_its_end_and_no_longer() -> None:
    now = 1_000.0
    states = InstallStates(secret="s", good_for=600.0, clock=lambda: now)
    browser = states.browser("")
    assert len(browser) == BROWSER_LENGTH
    assert states.browser(browser) == browser
    assert states.browser("x; Path=/") != "x; Path=/"
    state = states.issue(browser)
    assert states.until(state) == datetime.fromtimestamp(1_600, UTC)
    now = 1_600.0
    assert states.fault(state, browser) is None
    now = 1_601.0
    assert states.fault(state, browser) is Fault.LATE
    assert states.fault(state, states.browser("")) is Fault.FOREIGN
    assert states.fault("", browser) is Fault.FOREIGN
    another = InstallStates(secret="t", good_for=600.0, clock=lambda: now)
    assert another.fault(state, browser) is Fault.FOREIGN


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"organisation": True}, "whole organisation"),
        ({}, f"footnote servers allow {ACME}"),
    ],
)
async def test_what_is_not_wanted_is_given_back(
    cloud: SlackCloud, how: dict[str, bool], words: str
) -> None:
    parts = {"admissions": slack_admissions(None, BETA)}
    async with workspaces_at_work(cloud, desk_that_answers(), parts=parts) as at_work:
        page = await at_work.browser.installs(ACME, **how)
        assert (page.status_code, words in page.text) == (403, True)
        assert not at_work.installations.kept
        assert {token.refused for token in cloud.tokens.values()} == {"token_revoked"}


async def test_settings_that_slack_refuses_are_the_operators_to_mend(
    cloud: SlackCloud, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever installs is told to tell them; which settings these are stands in the log alone."""
    async with workspaces_at_work(cloud, desk_that_answers(), client_secret="another") as at_work:
        page = await at_work.browser.installs(ACME)
        assert (page.status_code, "whoever runs it" in page.text) == (502, True)
        assert "SLACK_CLIENT_SECRET" not in page.text
    [logged] = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert "SLACK_CLIENT_SECRET" in logged.__dict__["advice"]


async def test_what_breaks_on_the_way_can_be_tried_again(cloud: SlackCloud) -> None:
    async with workspaces_at_work(cloud, desk_that_answers(), look_seconds=60.0) as at_work:
        back = cloud.decides(await at_work.browser.begins(), ACME)
        cloud.is_away = True
        assert (await at_work.browser.goes(back)).status_code == 503
        cloud.is_away = False
        back = cloud.decides(await at_work.browser.begins(), ACME)
        at_work.installations.failing = 1
        assert (await at_work.browser.goes(back)).status_code == 503
        assert (await at_work.browser.installs(ACME)).status_code == 200


async def test_the_doors_take_nothing_but_a_look(cloud: SlackCloud) -> None:
    async with workspaces_at_work(cloud, desk_that_answers()) as at_work:
        for path in ("/slack/install", "/slack/oauth_redirect"):
            answer = await at_work.browser.client.post(f"{at_work.browser.base}{path}")
            assert (answer.status_code, answer.headers["allow"]) == (405, "GET")
        page = await at_work.browser.goes(f"{at_work.browser.base}/slack/oauth_redirect?code=%zz")
        assert page.status_code == 400
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert page.headers["referrer-policy"] == "no-referrer"


async def test_every_workspace_has_findings_of_its_own(cloud: SlackCloud) -> None:
    desk = desk_that_answers()
    async with workspaces_at_work(cloud, desk) as at_work:
        [finding] = await at_work.platform.findings()
        assert "/slack/install" in finding.advice
        for team in (ACME, BETA):
            await at_work.browser.installs(team)
        cloud.workspaces[ACME].api.scopes.discard("chat:write")
        cloud.workspaces[ACME].foresees("missing_scope")
        asks(cloud, ACME)
        await settled(cloud, desk)
        lacking = TenantId(ACME)
        here = await at_work.platform.findings(tenant=lacking)
        there = await at_work.platform.findings(tenant=TenantId(BETA))
        assert any("chat:write" in f.detail and ACME in f.name for f in here)
        assert [f.in_place for f in there] == [True]
        assert ACME not in "".join(f"{f.name}{f.detail}{f.advice}" for f in there)
        at_work.installations.kept[TenantId("T0LOST")] = Unreadable(
            tenant=TenantId("T0LOST"), name="Lost"
        )
        await asyncio.sleep(0.3)
        every = await at_work.platform.findings()
        assert any("T0LOST" in f.name and "FOOTNOTE_SECRET_KEYS" in f.detail for f in every)


async def test_no_token_code_or_state_is_logged(
    cloud: SlackCloud, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="adapters")
    desk = desk_that_answers()
    cloud.rotates_after = 3_600.0
    async with workspaces_at_work(cloud, desk) as at_work:
        back = cloud.decides(await at_work.browser.begins(), ACME)
        for _ in range(2):
            await at_work.browser.goes(back)
        asks(cloud, ACME)
        await settled(cloud, desk)
        cloud.uninstall(ACME)
        await until(lambda: not at_work.installations.kept)
    assert "T0ACME" in "".join(str(record.__dict__) for record in caplog.records)
    for secret in ("CANARY", CLIENT_SECRET, "code-1", back.partition("state=")[2]):
        assert secret not in "".join(str(record.__dict__) for record in caplog.records)
