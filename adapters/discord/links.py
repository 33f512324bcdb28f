"""A place in the documents as one line with its address."""

from __future__ import annotations

from adapters.discord.wording import escaped, link_target

MAX_TITLE = 200


def place_link(title: str, section: str, url: str | None, *, file: str = "") -> str:
    """Title › section with its address; without one, as plain text with the file's name."""
    words = [_shown(title), _shown(section) if section != title else ""]
    label = " › ".join(word for word in words if word) or _shown(file) or "source"
    target = link_target(url)
    if target is not None:
        return f"[{label}](<{target}>)"
    return f"{label} ({_shown(file)})" if file and _shown(file) != label else label


def _shown(text: str) -> str:
    whole = " ".join(text.split())
    return escaped(whole if len(whole) <= MAX_TITLE else whole[: MAX_TITLE - 1] + "…")
