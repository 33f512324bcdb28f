"""Our token and our answers go to Slack's own hosts and to no other."""

from __future__ import annotations

import pytest

from adapters.slack.calling.hosts import is_slacks_own

API = "https://slack.com/api/"


@pytest.mark.parametrize(
    ("url", "own"),
    [
        ("https://hooks.slack.com/commands/T1/2/x", True),
        ("https://files.slack.com/files-pri/T1-F1/a.txt", True),
        ("https://slack.com/x", True),
        ("http://hooks.slack.com/commands", False),
        ("https://slack.com.example/x", False),
        ("https://evilslack.com/x", False),
        ("https://user@evil.example/slack.com", False),
        ("https://slack.com@evil.example/", False),
        ("http://127.0.0.1:1/x", False),
        ("", False),
        ("https://[", False),
    ],
)
def test_only_slacks_hosts_are_slacks(url: str, own: bool) -> None:
    assert is_slacks_own(url, API) is own


def test_a_gateway_in_slacks_place_is_its_own_host() -> None:
    assert is_slacks_own("http://127.0.0.1:81/files/F1", "http://127.0.0.1:81/api/")
    assert not is_slacks_own("http://gateway:82/files/F1", "http://gateway:81/api/")
    assert not is_slacks_own("http://127.0.0.1:81/files/F1", "http://gateway:81/api/")


def test_what_stands_in_on_this_machine_may_have_several_ports() -> None:
    assert is_slacks_own("http://localhost:82/respond/1", "http://127.0.0.1:81/api/")
    assert not is_slacks_own("http://192.0.2.1:82/respond/1", "http://127.0.0.1:81/api/")
