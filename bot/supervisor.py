"""Runs platforms, doors and the worker together, and ends them in order."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

from adapters.platform import ChatPlatform
from adapters.web.app import create_app
from adapters.web.config import WebConfig, parse_api_keys
from adapters.web.door import create_door
from adapters.web.server import serve
from bot.door import door_listener, own_folder
from bot.logs import start_logging
from bot.owner import Owner
from bot.platforms import open_platforms
from bot.readiness import lookout
from bot.settings import Settings
from bot.web_wiring import AsksReadiness, web_parts
from bot.wiring import Services, open_services
from rag_core.conversation.key import Platform
from rag_core.desk.outgoing import Outlet
from rag_core.desk.worker import Worker
from rag_core.errors import ConfigurationError, FootnoteError
from rag_core.storage.folder_lock import folder_lock

log = logging.getLogger(__name__)

DRAIN_SECONDS = 15
"""How long answers in work may still take once the process is told to end."""


UPLOADS = "uploads"
"""Below the data folder: what was dropped on the dashboard."""
QUEUE_SECONDS = 120
"""How long a question may wait for a worker."""
GOODBYE_SECONDS = 10
"""What a command without a bot waits beyond an answer's own time: nothing is ahead of its question,
so what the worker neither gave nor excused by then (it could claim nothing) does not come."""


async def supervise(settings: Settings) -> None:
    """footnote run: until SIGTERM or Ctrl-C; a second signal ends it at once."""
    start_logging(settings.log_level, settings.log_format)
    config = web_config(settings)
    folder = own_folder(settings.data_dir)
    async with contextlib.AsyncExitStack() as stack:
        stopping = stack.enter_context(stop_signals())
        services = await stack.enter_async_context(open_core(settings, folder))
        opened = await stack.enter_async_context(open_platforms(settings, services))
        platforms = opened.platforms
        page = stack.enter_context(web_listener(*settings.listens_on))
        door = stack.enter_context(door_listener(folder))
        parts = web_parts(services, readiness_of(services, platforms), opened.mounts)
        app = create_app(parts, config)
        worker = services.worker(outlets(services, platforms))
        say_where(page, platforms)
        await work_until(
            stopping,
            worker,
            [
                services.housekeeping.run(),
                *services.watches(chat_outlets(platforms)),
                services.timetable.run(),
                services.gaps.run(),
                serve(app, page),
                serve(
                    create_door(
                        parts,
                        owner=Owner(services, platforms),
                        shelves=services.librarian,
                        staffing=services.staffing,
                    ),
                    door,
                ),
                *(kept_apart(platform) for platform in platforms),
            ],
        )
    log.info("ended")


@contextlib.asynccontextmanager
async def open_house(settings: Settings) -> AsyncIterator[Path]:
    """For one command where no bot runs: the core and its private door, no platforms."""
    start_logging("warning", settings.log_format)
    folder = own_folder(settings.data_dir)
    async with contextlib.AsyncExitStack() as stack:
        services = await stack.enter_async_context(open_core(settings, folder))
        door = stack.enter_context(door_listener(folder))
        done = asyncio.Event()
        worker = services.worker(services.own_outlets)
        parts = web_parts(services, readiness_of(services, ()), {})
        patience = WebConfig(wait_seconds=settings.answer_seconds + GOODBYE_SECONDS)
        private = create_door(
            parts,
            patience,
            owner=Owner(services),
            shelves=services.librarian,
            staffing=services.staffing,
        )
        working = asyncio.create_task(work_until(done, worker, [serve(private, door)]))
        try:
            yield Path(door.getsockname())
        finally:
            done.set()
            await working


@contextlib.asynccontextmanager
async def open_core(settings: Settings, folder: Path) -> AsyncIterator[Services]:
    """The services, with the data folder held for this process alone."""
    async with (
        folder_lock(folder, wait_seconds=settings.overlap_seconds),
        open_services(settings, folder) as services,
    ):
        yield services


async def work_until(
    stopping: asyncio.Event, worker: Worker, others: Sequence[Coroutine[Any, Any, None]]
) -> None:
    """Work until told to stop; let answers in work end first, then everything else."""
    async with asyncio.TaskGroup() as tasks:
        background = [tasks.create_task(other) for other in others]
        working = tasks.create_task(worker.run())
        await stopping.wait()
        worker.stop()
        await asyncio.wait([working], timeout=DRAIN_SECONDS)
        for task in (working, *background):
            task.cancel()


async def kept_apart(platform: ChatPlatform) -> None:
    """A platform whose end is no end for the others."""
    try:
        await platform.run()
    except FootnoteError as error:
        log.error("platform down", extra={"platform": platform.platform.value, "cause": str(error)})


def readiness_of(services: Services, platforms: Sequence[ChatPlatform]) -> AsksReadiness:
    return lookout(
        ledger=services.stores.ledger,
        vectors=services.vectors,
        platforms=platforms,
        room=services.room,
        most_waiting=services.settings.queue_questions,
    )


def outlets(services: Services, platforms: Sequence[ChatPlatform]) -> Mapping[Platform, Outlet]:
    return {**services.own_outlets, **chat_outlets(platforms)}


def chat_outlets(platforms: Sequence[ChatPlatform]) -> Mapping[Platform, Outlet]:
    return {
        platform.platform: Outlet(renderer=platform.renderer, replies=platform.replies)
        for platform in platforms
    }


def web_config(settings: Settings) -> WebConfig:
    host, port = settings.listens_on
    keys = settings.api_keys
    return WebConfig(
        host=host,
        port=port,
        public_url=settings.public_url,
        uploads=settings.data_dir.resolve() / UPLOADS,
        job_folders=settings.allowed_job_folders,
        hook_secret=settings.hook_secret.get_secret_value() if settings.hook_secret else None,
        wait_seconds=QUEUE_SECONDS + settings.answer_seconds,
        api_keys=parse_api_keys(keys.get_secret_value()) if keys else (),
    )


@contextlib.contextmanager
def web_listener(host: str, port: int) -> Any:
    """The socket of the web door; a port that is taken is the operator's to change."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            raise ConfigurationError(
                f"FOOTNOTE_WEB_PORT is {port}, but {host}:{port} cannot be listened on"
                f" ({error.strerror}); choose another port, or 0 for a free one."
            ) from None
        listener.listen()
        yield listener


@contextlib.contextmanager
def stop_signals() -> Any:
    """An event that SIGTERM and SIGINT set; the second signal ends the process at once."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()

    def asked() -> None:
        stopping.set()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, asked)
    try:
        yield stopping
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)


def say_where(page: socket.socket, platforms: Sequence[ChatPlatform]) -> None:
    host, port = page.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    names = [platform.platform.value for platform in platforms]
    log.info("web door open", extra={"address": f"http://{shown}:{port}/", "platforms": names})
