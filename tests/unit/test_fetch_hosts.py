"""Hosts of the own network are named one by one, or the setting is refused."""

from __future__ import annotations

import pytest

from bot.settings import read_settings
from rag_core.errors import ConfigurationError


def test_hosts_are_named_with_a_port_or_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_FETCH_HOSTS", "wiki.example.internal, 10.0.0.5:8080,[::1]:8000,")
    hosts = read_settings(env_file=None).allowed_fetch_hosts
    assert hosts == ("wiki.example.internal", "10.0.0.5:8080", "[::1]:8000")


@pytest.mark.parametrize(
    "hosts", ["https://wiki.example", "wiki/docs", "me@wiki", "wiki:port", "10.0.0.0/8", "a b"]
)
def test_what_is_no_host_is_refused(monkeypatch: pytest.MonkeyPatch, hosts: str) -> None:
    monkeypatch.setenv("FOOTNOTE_FETCH_HOSTS", hosts)
    with pytest.raises(ConfigurationError, match=r"FOOTNOTE_FETCH_HOSTS .* HOST or HOST:PORT"):
        read_settings(env_file=None)


def test_a_secret_for_hooks_is_long_enough_and_never_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FOOTNOTE_HOOK_SECRET", "too short")
    with pytest.raises(ConfigurationError, match="at least 16 characters") as refused:
        read_settings(env_file=None)
    assert "too short" not in str(refused.value)
    monkeypatch.setenv("FOOTNOTE_HOOK_SECRET", "long enough for this")
    settings = read_settings(env_file=None)
    assert "long enough" not in repr(settings)
