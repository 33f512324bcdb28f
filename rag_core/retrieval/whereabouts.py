"""Where in the documents something stands, in words."""

from __future__ import annotations

ARROW = " › "


def whereabouts(page_title: str | None, section_heading: str | None) -> str:
    """Title › section, said once where both are the same; empty where neither is known."""
    names = ((name or "").strip() for name in (page_title, section_heading))
    return ARROW.join(dict.fromkeys(name for name in names if name))
