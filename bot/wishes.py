"""What the operator asks of a running process: to end, or to read its settings again."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from collections.abc import Iterator

from bot.settings import Settings, read_settings
from rag_core.errors import ConfigurationError

log = logging.getLogger(__name__)

ENDS = (signal.SIGTERM, signal.SIGINT)
STAYS = ("data_dir", "web_host", "web_port", "port")
"""Settings of what is held as long as the process lives: the folder and the web door's socket."""


class Wishes:
    """Hears signals. SIGHUP has the settings read again; SIGTERM and SIGINT end the process."""

    def __init__(self) -> None:
        self._asked: asyncio.Queue[bool] = asyncio.Queue()
        """Each wish, and whether it is the end."""

    def end(self) -> None:
        self._asked.put_nowait(True)

    def read_again(self) -> None:
        self._asked.put_nowait(False)

    async def next(self, now: Settings) -> Settings | None:
        """New settings, once there are some that can be meant; None: the end.

        Settings with a fault change nothing."""
        while not await self._asked.get():
            try:
                new = read_settings()
            except ConfigurationError as error:
                log.error("settings stay as they were", extra={"cause": str(error)})
                continue
            return new.model_copy(update={name: getattr(now, name) for name in STAYS})
        return None


@contextlib.contextmanager
def heard_wishes() -> Iterator[Wishes]:
    """Signals until the end of the block; a second one to end does so at once."""
    wishes = Wishes()
    loop = asyncio.get_running_loop()

    def end() -> None:
        wishes.end()
        for number in ENDS:
            loop.remove_signal_handler(number)

    for number in ENDS:
        loop.add_signal_handler(number, end)
    loop.add_signal_handler(signal.SIGHUP, wishes.read_again)
    try:
        yield wishes
    finally:
        for number in (*ENDS, signal.SIGHUP):
            loop.remove_signal_handler(number)
