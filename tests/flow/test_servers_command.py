"""footnote servers: list, allow, deny, beside a running bot and without one."""

from __future__ import annotations

import json
from pathlib import Path

from tests.flow.running_house import footnote, running_house
from tests.peers.discord import TOKEN, open_discord_peer

WRONG_USAGE = 2


async def listed(folder: Path) -> list[dict[str, str]]:
    printed, _ = await footnote("servers", "list", "--json", folder=folder)
    rows: list[dict[str, str]] = json.loads(printed)["servers"]
    return rows


async def test_servers_are_allowed_denied_and_listed_without_a_bot(tmp_path: Path) -> None:
    printed, _ = await footnote("servers", folder=tmp_path)
    assert "No server or workspace was met yet" in printed
    printed, _ = await footnote("servers", "allow", "123456789", "--json", folder=tmp_path)
    assert json.loads(printed)["state"] == "allowed"
    printed, _ = await footnote("servers", "deny", "T0ACME", folder=tmp_path)
    assert printed.startswith("slack T0ACME: denied since ")
    states = {row["id"]: (row["platform"], row["state"]) for row in await listed(tmp_path)}
    assert states == {"123456789": ("discord", "allowed"), "T0ACME": ("slack", "denied")}


async def test_an_id_of_no_platform_is_refused_in_words(tmp_path: Path) -> None:
    _, said = await footnote("servers", "allow", "my-server", folder=tmp_path, expect=WRONG_USAGE)
    assert "'my-server' is not an id" in said


async def test_where_the_settings_name_servers_the_command_says_so(tmp_path: Path) -> None:
    settings = {"DISCORD_SERVERS": "123, 456", "SLACK_WORKSPACES": "T0ACME"}
    for server, variable in (("789", "DISCORD_SERVERS"), ("T0BETA", "SLACK_WORKSPACES")):
        _, said = await footnote(
            "servers", "allow", server, folder=tmp_path, expect=WRONG_USAGE, settings=settings
        )
        assert f"{variable} decides" in said
    _, said = await footnote("servers", folder=tmp_path, settings=settings)
    assert "DISCORD_SERVERS decides: 123, 456." in said


async def test_a_running_bot_holds_to_a_decision_at_once(tmp_path: Path) -> None:
    async with open_discord_peer() as peer:
        world = peer.world
        home = world.guild()
        channel, alice = world.text_channel(home), world.person("alice")
        settings = {
            "DISCORD_BOT_TOKEN": TOKEN,
            "DISCORD_API_BASE": peer.api_base,
            "DISCORD_GATEWAY_URL": peer.gateway_url,
        }

        async def ask() -> int:
            note = await peer.say(channel, alice, "How many a day?", mentions_bot=True)
            return note.id

        async with running_house(tmp_path, **settings):
            asked = await ask()
            await peer.until(lambda: peer.seen_in(asked), within=30)
            [row] = await listed(tmp_path)
            assert (row["id"], row["name"], row["state"]) == (str(home.id), "Course", "allowed")
            await footnote("servers", "deny", str(home.id), folder=tmp_path, settings=settings)
            denied = await ask()
            [refusal] = await peer.until(lambda: peer.seen_in(channel.id))
            assert f"footnote servers allow {home.id}" in refusal.content
            await footnote("servers", "allow", str(home.id), folder=tmp_path, settings=settings)
            again = await ask()
            await peer.until(lambda: peer.seen_in(again), within=30)
            assert not peer.seen_in(denied)
