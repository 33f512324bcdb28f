"""Which Footnote this is."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

PACKAGE = "footnote-bot"


def own_version() -> str:
    """A checkout that only its packages were installed for has no number."""
    try:
        return version(PACKAGE)
    except PackageNotFoundError:
        return "from a checkout that is not installed"
