"""Slack's settings hide their secrets and say what is wrong with them."""

from __future__ import annotations

import logging

import pytest

from adapters.slack.calling.vendor_log import vendor_log
from adapters.slack.config import SlackConfig
from rag_core.errors import ConfigurationError


def test_secrets_do_not_show() -> None:
    config = SlackConfig(bot_token="xoxb-SECRET", app_token="xapp-SECRET", signing_secret="SECRET")
    assert "SECRET" not in f"{config!r} {config}"


@pytest.mark.parametrize(
    ("tokens", "variable"),
    [
        ({"bot_token": "xapp-1", "app_token": "xapp-1"}, "SLACK_BOT_TOKEN"),
        ({"bot_token": "xoxb-1", "app_token": "xoxb-1"}, "SLACK_APP_TOKEN"),
        ({"bot_token": "xoxb-1"}, "SLACK_SIGNING_SECRET"),
    ],
)
def test_swapped_and_missing_tokens_are_named(tokens: dict[str, str], variable: str) -> None:
    with pytest.raises(ConfigurationError, match=variable):
        SlackConfig(**tokens)


def test_what_the_library_says_has_no_ticket_and_no_stack(caplog: pytest.LogCaptureFixture) -> None:
    log = vendor_log()
    stack = (ValueError, ValueError("SECRET"), None)
    log.error("Failed to connect (wss://x.example/link?ticket=SECRET&app=1)", exc_info=stack)
    log.warning("Unhandled request: what a person wrote")
    assert [record.getMessage() for record in caplog.records] == [
        "Failed to connect (wss://x.example/link?ticket=…&app=1)"
    ]
    assert caplog.records[0].exc_info is None
    assert vendor_log().level == logging.ERROR
