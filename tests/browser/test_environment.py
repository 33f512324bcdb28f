"""What is missing on the machine is fetched or named; it is never passed over."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from tests.browser.environment import NotFetched, axe, ran, script_in


def test_what_cannot_be_fetched_is_one_sentence_that_says_what_to_install() -> None:
    with pytest.raises(NotFetched) as missing:
        ran(["no-such-program", "install", "chromium"])
    sentence = str(missing.value)
    assert "no-such-program install chromium" in sentence
    assert "Install Debian's packages chromium and npm" in sentence
    assert "\n" not in sentence


def test_a_program_that_fails_is_named_with_its_last_words() -> None:
    with pytest.raises(NotFetched, match="no room"):
        ran(["sh", "-c", "echo much noise >&2; echo no room >&2; exit 1"])


def test_a_script_that_was_not_published_is_refused(tmp_path: Path) -> None:
    package = tmp_path / "axe-core.tgz"
    with tarfile.open(package, "w:gz") as archive:
        member = tarfile.TarInfo("package/axe.min.js")
        member.size = 5
        archive.addfile(member, io.BytesIO(b"evil;"))
    with pytest.raises(NotFetched, match="not what was published"):
        script_in(package)


def test_what_was_fetched_once_is_kept(tmp_path: Path) -> None:
    (tmp_path / "axe-core@4.14.0.min.js").write_text("kept", encoding="utf-8")
    assert axe(tmp_path) == "kept"
