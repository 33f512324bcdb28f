"""What `footnote run` shows of its page: the link that signs in, on a terminal and nowhere else."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Thread

from adapters.web.config import WebConfig
from adapters.web.guarding.origin import is_loopback
from bot.local_key import ensure_local_key
from bot.opening import open_page, page_address, sign_in_link
from bot.settings import Settings

log = logging.getLogger(__name__)

OPEN_LOOPBACK = (
    "FOOTNOTE_OPEN_LOOPBACK: every account and every forward of this computer is an admin of the"
    " web page, without a key"
)


def to_terminal(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


class Welcome:
    """Makes the local key, and shows once how to come to the page.

    A log may be read by others, so the link never goes through one: it is written where a person
    looks on, or was asked for with `--open`."""

    def __init__(
        self, folder: Path, *, opens_page: bool, write: Callable[[str], None] = to_terminal
    ) -> None:
        self._folder = folder
        self._opens_page = opens_page
        self._write = write
        self._was_shown = False

    def local_key(self, settings: Settings) -> str | None:
        """None where API keys open the web door."""
        return None if settings.api_keys else ensure_local_key(self._folder)

    def show(self, listens_on: tuple[str, int], config: WebConfig) -> None:
        """At the first start; settings that are read again change nothing of the link."""
        if config.open_loopback:
            log.warning(OPEN_LOOPBACK)
        if config.is_local_only and not is_loopback(listens_on[0]):
            log.warning(
                "the web page is for this computer only; others need FOOTNOTE_API_KEYS",
                extra={"host": listens_on[0]},
            )
        if self._was_shown or not (self._opens_page or sys.stderr.isatty()):
            return
        self._was_shown = True
        address = page_address(*listens_on)
        link = sign_in_link(address, config.local_key.secret if config.local_key else None)
        self._write(f"\n    Footnote: {link}\n")
        if self._opens_page:
            # A browser may take its time, and nobody waits for it.
            Thread(target=open_page, args=(link, self._folder), daemon=True).start()
