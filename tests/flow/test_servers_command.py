"""footnote servers: list, allow, deny, beside a running bot and without one."""

from __future__ import annotations

import json
from pathlib import Path

from tests.flow.running_house import footnote

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
