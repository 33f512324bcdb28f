"""Without API keys: nothing is trusted for its address alone, and this computer shows its key."""

from __future__ import annotations

import pytest

from adapters.web.config import WebConfig
from adapters.web.guarding.origin import FORWARDING
from tests.fakes.web_house import House
from tests.fakes.web_visit import LOCAL_KEY, a_config, csrf_token, sign_in, visiting, with_keys

ASK = {"message": "How often may a key ask?"}
FORWARDED = [
    *sorted(FORWARDING),
    "X-Forwarded-For",
    "X-Forwarded-Host",
    "X-Forwarded-Proto",
    "X-Forwarded-Port",
    "X-Forwarded-Server",
    "X-Forwarded-Prefix",
    "X-Forwarded",
    "CF-IPCountry",
    "CF-Visitor",
    "X-Amzn-Trace-Id",
    "X-Vercel-Forwarded-For",
]
FOREIGN = [
    {"Host": "evil.example"},
    {"Host": "127.0.0.1.evil.example:8080"},
    {"Host": "[::1"},
    {"Host": "192.0.2.7:8080"},
    {"Host": ""},
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://[::1"},
    {"Origin": "http://127.0.0.1:9999"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"},
]


async def test_this_machine_is_nobody_without_the_key() -> None:
    """A proxy that hides itself, a forwarded port and another account all look like this."""
    house = House()
    async with visiting(house, key="") as client:
        asked = await client.post("/chat/run", json=ASK)
        listed = await client.get("/admin")
    assert [asked.status_code, listed.status_code] == [401, 401]
    assert not house.ledger.entries


async def test_where_no_key_was_made_nobody_comes_in() -> None:
    async with visiting(House(), WebConfig(), key="") as client:
        statuses = [
            (await client.get("/threads", headers={"Authorization": value})).status_code
            for value in ("", "Bearer ", "Bearer None")
        ]
    assert statuses == [401] * 3


@pytest.mark.parametrize("headers", FOREIGN)
async def test_another_sites_page_may_not_use_a_session(headers: dict[str, str]) -> None:
    house = House()
    async with visiting(house, key="") as client:
        await sign_in(client, LOCAL_KEY)
        token = {"X-CSRF-Token": await csrf_token(client)}
        asked = await client.post("/chat/run", json=ASK, headers=headers | token)
        listed = await client.get("/threads", headers=headers)
        own = await client.get("/threads")
    assert [asked.status_code, listed.status_code, own.status_code] == [403, 403, 200]
    assert not house.ledger.entries


async def test_a_strange_name_cannot_follow_the_link() -> None:
    async with visiting(House(), key="", host="evil.example") as client:
        answer = await client.get(f"/?key={LOCAL_KEY}")
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("config", [a_config(), with_keys(), a_config(open_loopback=True)])
async def test_our_own_page_may_ask(config: WebConfig) -> None:
    own = {"Origin": "http://127.0.0.1:8080", "Sec-Fetch-Site": "same-origin"}
    async with visiting(House(), config, key="") as client:
        await sign_in(client, config.keys[0].secret)
        token = {"X-CSRF-Token": await csrf_token(client)}
        assert (await client.post("/chat/run", json=ASK, headers=own | token)).status_code == 200


async def test_with_a_public_address_a_page_is_served_under_it_and_under_addresses() -> None:
    config = with_keys(public_url="https://docs.example/")

    async def status(host: str, origin: str) -> int:
        async with visiting(House(), config, host=host) as client:
            answer = await client.post(
                "/sign-in", data={"key": "ask-key-1"}, headers={"Origin": origin}
            )
            return answer.status_code

    assert await status("docs.example", "https://docs.example") == 303
    # nginx without `proxy_set_header Host`: the browser's own word for where it is still counts.
    assert await status("127.0.0.1:8080", "https://docs.example") == 303
    assert await status("192.0.2.7:8080", "http://192.0.2.7:8080") == 303
    assert await status("evil.example", "http://evil.example") == 403
    assert await status("docs.example", "https://evil.example") == 403


async def test_a_bearer_key_is_proof_by_itself() -> None:
    odd = {"Host": "bot.internal", "X-Forwarded-For": "192.0.2.7"}
    async with visiting(House()) as client:
        assert (await client.get("/threads", headers=odd)).status_code == 200
    config = with_keys(public_url="https://docs.example/")
    async with visiting(House(), config, key="ask-key-1", address="192.0.2.7") as client:
        assert (await client.get("/threads", headers=odd)).status_code == 200


OPEN = a_config(open_loopback=True)


async def test_an_open_loopback_serves_this_computer_without_a_key() -> None:
    async with visiting(House(), OPEN, key="") as client:
        page = await client.get("/admin")
        asked = await client.post("/chat/run", json=ASK)
        signing = await client.get("/sign-in")
    assert [page.status_code, asked.status_code, signing.status_code] == [200, 200, 303]


@pytest.mark.parametrize("name", FORWARDED)
async def test_an_open_loopback_refuses_what_a_proxy_forwards(name: str) -> None:
    house = House()
    async with visiting(house, OPEN, key="") as client:
        statuses = [
            (await client.request(method, path, headers={name: "127.0.0.1"})).status_code
            for method, path in (("GET", "/"), ("POST", "/chat/run"), ("GET", "/static/chat.js"))
        ]
        linked = await client.get(f"/?key={LOCAL_KEY}", headers={name: "127.0.0.1"})
    assert statuses == [403] * 3
    assert linked.status_code == 403
    assert not house.ledger.entries


@pytest.mark.parametrize("headers", FOREIGN)
async def test_an_open_loopback_refuses_other_names_and_pages(headers: dict[str, str]) -> None:
    house = House()
    async with visiting(house, OPEN, key="") as client:
        asked = await client.post("/chat/run", json=ASK, headers=headers)
    assert asked.status_code == 403
    assert not house.ledger.entries


@pytest.mark.parametrize("address", ["192.0.2.7", "10.0.0.1", "2001:db8::1", "", "unix"])
async def test_an_open_loopback_is_for_this_computer_alone(address: str) -> None:
    async with visiting(House(), OPEN, key="", address=address) as client:
        assert (await client.get("/")).status_code == 403
