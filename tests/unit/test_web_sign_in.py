"""Signing in and out: a key is shown once, and the server knows when the session ends."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from datetime import timedelta

import httpx
import pytest

from adapters.web.config import WebConfig
from tests.fakes.web_house import House
from tests.fakes.web_visit import (
    KEYS,
    LOCAL_KEY,
    a_config,
    csrf_token,
    sign_in,
    visiting,
    with_keys,
)

ASK = {"message": "How often may a key ask?"}
PAGE = {"Accept": "text/html"}


async def test_a_browser_shows_its_key_once_and_keeps_a_session() -> None:
    async with visiting(House(), with_keys()) as client:
        first = await client.get("/", headers=PAGE)
        assert (first.status_code, first.headers["location"]) == (303, "/sign-in")
        assert "password" in (await client.get("/sign-in")).text
        entered = await sign_in(client)
        assert (entered.status_code, entered.headers["location"]) == (303, "/")
        cookie = entered.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie
        assert "ask-key-1" not in cookie
        page = await client.get("/")
        assert page.status_code == 200
        assert "ask-key-1" not in page.text
        refused = await client.post("/chat/run", json=ASK)
        assert refused.status_code == 403
        token = await csrf_token(client)
        asked = await client.post("/chat/run", json=ASK, headers={"X-CSRF-Token": token})
        assert asked.status_code == 200
        left = await client.post("/sign-out", headers={"X-CSRF-Token": token})
        assert left.status_code == 204
        assert (await client.get("/threads")).status_code == 401


@pytest.mark.parametrize("config", [a_config(), with_keys()])
async def test_signing_out_ends_every_copy_of_the_cookie(config: WebConfig) -> None:
    house, key = House(), config.keys[0].secret
    async with visiting(house, config, key="") as client:
        await sign_in(client, key)
        copied = dict(client.cookies)
        token = await csrf_token(client)
        assert (await client.post("/sign-out")).status_code == 403
        assert (await client.post("/sign-out", headers={"X-CSRF-Token": token})).status_code == 204
    async with visiting(house, config, key="") as thief:
        thief.cookies.update(copied)
        assert (await thief.get("/threads")).status_code == 401
    assert not house.sign_ins.known


@pytest.mark.parametrize("config", [a_config(), with_keys()])
async def test_a_session_ends_after_thirty_days_whatever_the_browser_keeps(
    config: WebConfig,
) -> None:
    house = House()
    async with visiting(house, config, key="") as client:
        await sign_in(client, config.keys[0].secret)
        house.now += timedelta(days=30, seconds=-1)
        assert (await client.get("/threads")).status_code == 200
        house.now += timedelta(seconds=1)
        assert (await client.get("/threads")).status_code == 401


async def test_two_browsers_with_one_key_do_not_see_each_others_threads() -> None:
    house, config = House(), with_keys()
    async with visiting(house, config) as one, visiting(house, config) as two:
        for client in (one, two):
            await sign_in(client)
        token = await csrf_token(one)
        asked = await one.post("/chat/run", json=ASK, headers={"X-CSRF-Token": token})
        session = asked.json()["session_id"]
        assert (await one.get(f"/threads/{session}")).status_code == 200
        assert (await two.get(f"/threads/{session}")).status_code == 404
        changed = await two.delete("/threads", headers={"X-CSRF-Token": token})
        assert changed.status_code == 403, "a token belongs to one session"
    async with visiting(house, config, key="ask-key-1") as bearer:
        assert (await bearer.get(f"/threads/{session}")).status_code == 404


async def test_all_browsers_of_this_computer_show_the_same_threads() -> None:
    house = House()
    async with visiting(house, key="") as one, visiting(house, key="") as two:
        for client in (one, two):
            await sign_in(client, LOCAL_KEY)
        headers = {"X-CSRF-Token": await csrf_token(one)}
        session = (await one.post("/chat/run", json=ASK, headers=headers)).json()["session_id"]
        assert (await two.get(f"/threads/{session}")).status_code == 200
    async with visiting(house) as bearer:
        assert (await bearer.get(f"/threads/{session}")).status_code == 200


async def test_a_session_survives_a_restart_and_ends_with_its_key() -> None:
    house = House()
    async with visiting(house, with_keys()) as client:
        await sign_in(client)
        cookies = dict(client.cookies)
    for text, status in ((KEYS, 200), ("ask-key-2", 401)):
        async with visiting(house, with_keys(text)) as client:
            client.cookies.update(cookies)
            assert (await client.get("/threads")).status_code == status


@pytest.mark.parametrize("forged", ["", "x", ".", "a.b.c", "ü", "0" * 43, "A" * 100_000])
async def test_a_cookie_that_we_did_not_give_opens_nothing(forged: str) -> None:
    async with visiting(House(), with_keys()) as client:
        await sign_in(client)
        real = client.cookies["footnote_session"]
        client.cookies.clear()
        changed = forged or real[:-1] + ("0" if real[-1] != "0" else "1")
        answer = await client.get(
            "/threads", headers={"Cookie": f"footnote_session={changed}".encode()}
        )
    assert answer.status_code == 401


async def test_nobody_who_reads_the_database_can_sign_in_with_it() -> None:
    house = House()
    async with visiting(house, with_keys()) as client:
        await sign_in(client)
        token = client.cookies["footnote_session"]
    (kept,) = house.sign_ins.known.values()
    assert token not in repr(kept)
    async with visiting(house, with_keys()) as client:
        client.cookies["footnote_session"] = kept.digest
        assert (await client.get("/threads")).status_code == 401


@pytest.mark.parametrize(
    ("public", "origin", "secure"),
    [
        (None, "http://127.0.0.1:8080", False),
        ("https://docs.example/", "https://docs.example", True),
        ("https://docs.example/", None, True),
        ("https://docs.example/", "http://127.0.0.1:8080", False),
    ],
)
async def test_a_public_session_goes_over_tls_alone(
    public: str | None, origin: str | None, secure: bool
) -> None:
    async with visiting(House(), with_keys(public_url=public)) as client:
        headers = {"Origin": origin} if origin else {}
        entered = await client.post("/sign-in", data={"key": "ask-key-1"}, headers=headers)
    assert entered.status_code == 303
    assert ("Secure" in entered.headers["set-cookie"]) is secure


async def test_another_site_cannot_sign_a_browser_in() -> None:
    async with visiting(House(), with_keys()) as client:
        answer = await client.post(
            "/sign-in", data={"key": "ask-key-1"}, headers={"Origin": "https://evil.example"}
        )
        linked = await client.get("/?key=ask-key-1")
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers
    assert linked.status_code == 401
    assert "set-cookie" not in linked.headers


LINK = f"/?key={LOCAL_KEY}"


async def test_the_printed_link_signs_in_and_the_key_leaves_the_address() -> None:
    async with visiting(House(), key="") as client:
        opened = await client.get(f"/?thread=a%20b&key={LOCAL_KEY}", headers=PAGE)
        assert opened.status_code == 303
        assert opened.headers["location"] == "/?thread=a+b"
        assert opened.headers["cache-control"] == "no-store"
        assert LOCAL_KEY not in str(opened.headers)
        assert (await client.get("/")).status_code == 200
        deeper = await client.get(f"/admin/gaps?key={LOCAL_KEY}", headers=PAGE)
        assert deeper.headers["location"] == "/admin/gaps"


async def test_a_link_that_is_not_valid_any_more_leads_to_where_the_right_one_is_told() -> None:
    async with visiting(House(), key="") as client:
        opened = await client.get(f"/?key={LOCAL_KEY[:-1]}", headers=PAGE)
        shown = await client.get("/sign-in")
    assert (opened.status_code, opened.headers["location"]) == (303, "/sign-in")
    assert "set-cookie" not in opened.headers
    assert "footnote open" in shown.text


@pytest.mark.parametrize(
    "path", ["/threads", "/chat/run", "/page/threads", "/static/chat.js", "/openapi.json"]
)
async def test_a_key_in_an_address_opens_pages_alone(path: str) -> None:
    async with visiting(House(), key="") as client:
        answer = await client.get(path, params={"key": LOCAL_KEY})
    assert "set-cookie" not in answer.headers


async def test_a_link_on_another_site_leads_to_our_page() -> None:
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    async with visiting(House(), key="") as client:
        await client.get(LINK, headers=followed)
        assert (await client.get("/", headers=followed)).status_code == 200
        token = {"X-CSRF-Token": await csrf_token(client)}
        asked = await client.post("/chat/run", json=ASK, headers=followed | token)
        assert asked.status_code == 403


async def test_wrong_keys_slow_each_other_down_and_never_a_right_one(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """At the form and as a Bearer key alike, also where all come from one proxy's address."""
    config = with_keys(wrong_key_seconds=0.3)
    async with visiting(House(), config) as client:

        async def guess(number: int) -> httpx.Response:
            if number % 2:
                return await sign_in(client, f"guess-{number}")
            wrong = {"Authorization": f"Bearer guess-{number}"}
            return await client.get("/threads", headers=wrong)

        quick = [(await guess(number)).status_code for number in range(20)]
        assert quick == [401] * 20
        began = time.monotonic()
        assert (await guess(20)).status_code == (await guess(21)).status_code == 401
        assert time.monotonic() - began >= 0.6
        flood = [asyncio.create_task(guess(number)) for number in range(200)]
        await asyncio.sleep(0)
        began = time.monotonic()
        right = await client.get("/threads", headers={"Authorization": "Bearer ask-key-2"})
        entered = await sign_in(client)
        statuses = sorted(each.status_code for each in await asyncio.gather(*flood))
    assert (right.status_code, entered.status_code) == (200, 303)
    assert set(statuses) == {401, 429}
    assert statuses.count(401) >= 50
    notes = [record for record in caplog.records if record.message == "wrong access keys"]
    assert [record.levelno for record in notes] == [logging.WARNING]
    assert "guess-" not in caplog.text


async def test_a_sign_in_page_says_where_its_key_is() -> None:
    async with visiting(House(), key="") as client:
        local = (await client.get("/sign-in")).text
    async with visiting(House(), with_keys()) as client:
        keyed = (await client.get("/sign-in")).text
    assert "footnote open" in local
    assert "footnote open" not in keyed
    for page in (local, keyed):
        assert re.search(r'<input [^>]*name="key"[^>]*type="password"', page)
        assert "FOOTNOTE_" not in page
