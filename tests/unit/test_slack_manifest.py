"""The manifest asks Slack for what the code uses, and for nothing else."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from adapters.slack import manifest as made
from adapters.slack.calling.scopes import (
    PLACES,
    SCOPES_OF_EVENTS,
    SCOPES_OF_METHODS,
    bot_scopes,
)
from adapters.slack.config import CommandNames, InstallConfig
from adapters.slack.hearing.bolt import EVENTS
from adapters.slack.manifest import bot_events, manifest
from tests.peers.slack import SUBSCRIBED
from tests.peers.slack_api import ALL_SCOPES, SlackApi

SLACK = Path(made.__file__).parent
METHOD = re.compile(
    r"(?:assistant|chat|conversations|files|reactions|usergroups|users|views|auth|apps|oauth)\.[A-Za-z.]+"
)
WITHOUT_SCOPE = {"auth.test", "apps.connections.open", "oauth.v2.access"}
LISTS = {"scopes.py", "budget.py", "troubles.py"}
"""Tables of methods: what stands only there is not called."""


def methods_in_the_code() -> set[str]:
    found = set()
    for path in SLACK.rglob("*.py"):
        if path.name in LISTS:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found |= {node.value} if METHOD.fullmatch(node.value) else set()
    return found - WITHOUT_SCOPE


def test_every_method_that_is_called_has_its_scope_and_no_other() -> None:
    assert methods_in_the_code() == set(SCOPES_OF_METHODS)


def test_the_stand_in_grants_what_the_manifest_asks_for() -> None:
    assert set(bot_scopes()) == ALL_SCOPES


def test_the_stand_in_sends_what_the_manifest_subscribes_to() -> None:
    names = {event.partition(".")[0] if event in PLACES else event for event in bot_events()}
    assert names == SUBSCRIBED
    assert set(EVENTS) <= names
    assert set(SCOPES_OF_EVENTS) == names - {"message"}


def test_every_method_that_is_called_is_one_that_the_stand_in_judges() -> None:
    assert methods_in_the_code() <= set(SlackApi.METHODS)


@pytest.mark.parametrize("url", [None, "https://bot.example/"])
def test_events_come_over_a_socket_or_to_an_address(url: str | None) -> None:
    names = CommandNames(ask="/docs", lookup="/find", house="/docs-bot")
    whole = manifest(names, public_url=url)
    settings, features = whole["settings"], whole["features"]
    assert settings["socket_mode_enabled"] is (url is None)
    commands = features["slash_commands"]
    assert [command["command"] for command in commands] == ["/docs", "/find", "/docs-bot"]
    address = "https://bot.example/slack/events" if url else None
    for part in (settings["event_subscriptions"], settings["interactivity"]):
        assert part.get("request_url") == address
    assert {command.get("url") for command in commands} == {address}
    assert all(len(command["description"]) <= 2_000 for command in commands)
    assert len(whole["display_information"]["description"]) <= 140
    json.dumps(whole)


def test_an_app_for_several_workspaces_names_where_browsers_come_back() -> None:
    install = InstallConfig(client_id="1.2", client_secret="s", public_url="https://bot.example/")
    whole = manifest(CommandNames(), public_url="https://bot.example/", install=install)
    assert whole["oauth_config"] == {
        "scopes": {"bot": bot_scopes()},
        "redirect_urls": ["https://bot.example/slack/oauth_redirect"],
    }
