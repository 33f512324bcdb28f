"""A place in the documents as one line with its address."""

from __future__ import annotations

from adapters.discord.wording import escaped, link_target
from adapters.excerpts import one_line

MAX_TITLE = 200


def place_link(title: str, section: str, url: str | None, *, file: str = "") -> str:
    """Title › section with its address; without one, as plain text with the file's name."""
    label, target = _label(title, section, file), link_target(url)
    if target is not None:
        return f"[{label}](<{target}>)"
    return _with_file(label, file)


def place_line(title: str, section: str, url: str | None, *, file: str = "") -> str:
    """The same in plain words, with nothing that takes effect but the address itself."""
    label, target = _label(title, section, file), link_target(url)
    return f"{label}: <{target}>" if target is not None else _with_file(label, file)


def _label(title: str, section: str, file: str) -> str:
    words = [_shown(title), _shown(section) if section != title else ""]
    return " › ".join(word for word in words if word) or _shown(file) or "source"


def _with_file(label: str, file: str) -> str:
    return f"{label} ({_shown(file)})" if file and _shown(file) != label else label


def _shown(text: str) -> str:
    return escaped(one_line(text, MAX_TITLE))
