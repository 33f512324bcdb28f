"""Runs platforms, doors and the worker together, and ends them in order."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adapters.platform import ChatPlatform
from adapters.web.app import create_app
from adapters.web.config import WebConfig, local_api_key, parse_api_keys, short_keys
from adapters.web.door import create_door
from adapters.web.server import serve
from bot.door import door_listener, own_folder
from bot.examination.web_door import LONGER_KEYS, guessable
from bot.interpreter import settled_in, short_turns
from bot.logs import start_logging
from bot.open_files import raise_open_file_limit
from bot.owner import Owner
from bot.platforms import OpenPlatforms, open_platforms
from bot.private_folder import make_files_private, mend_rights
from bot.readiness import lookout
from bot.services import Services
from bot.settings import Settings
from bot.web_wiring import AsksReadiness, web_parts
from bot.welcome import Welcome
from bot.wiring import open_services
from bot.wishes import Wishes, heard_wishes
from rag_core.conversation.key import Platform
from rag_core.desk.outgoing import Outlet
from rag_core.desk.timed_replies import TimedReplies
from rag_core.desk.worker import Worker
from rag_core.errors import ConfigurationError, FootnoteError
from rag_core.providers.spare_memory import give_back, given_back, share_free_memory
from rag_core.storage.engines.folder_lock import folder_lock

log = logging.getLogger(__name__)

DRAIN_SECONDS = 15
"""How long answers in work may still take once the process is told to end."""
ANEW_SECONDS = 1
"""The same where it only begins anew: what is not done by then is taken up again at once."""

QUIET = "error"
"""What a single command logs: what went wrong with it, its answer says already."""

UPLOADS = "uploads"
"""Below the data folder: what was dropped on the dashboard."""
QUEUE_SECONDS = 120
"""How long a question may wait for a worker."""
GOODBYE_SECONDS = 10
"""What a command without a bot waits beyond an answer's own time: nothing is ahead of its question,
so what the worker neither gave nor excused by then (it could claim nothing) does not come."""


async def supervise(settings: Settings, *, opens_page: bool = False) -> None:
    """footnote run: until SIGTERM or Ctrl-C; a second signal ends it at once. SIGHUP has it
    begin anew with the settings as they are then, on the same folder and the same socket.

    `opens_page`: the page is opened in a browser, or else its link printed."""
    make_files_private()
    share_free_memory()
    start_logging(settings.log_level, settings.log_format)
    raise_open_file_limit()
    # A wrong key is told before anything opens, and so is one that is too short.
    if short := short_keys(web_config(settings).api_keys):
        log.warning(guessable(short), extra={"advice": LONGER_KEYS})
    folder = own_folder(settings.data_dir)
    async with contextlib.AsyncExitStack() as stack:
        wishes = stack.enter_context(heard_wishes())
        welcome = Welcome(folder, opens_page=opens_page)
        await stack.enter_async_context(folder_lock(folder, wait_seconds=settings.overlap_seconds))
        await asyncio.to_thread(mend_rights, folder)
        page = stack.enter_context(web_listener(*settings.listens_on))
        door = stack.enter_context(door_listener(folder))
        proven: Settings | None = None
        told: Settings | None = settings
        while told is not None:
            tried = told
            try:
                async with opened_house(tried, folder) as house:
                    proven = tried
                    with short_turns(), settled_in():
                        told = await house.work(page, door, wishes, welcome)
            except FootnoteError as error:
                told = to_go_on_with(error, tried=tried, told=told, proven=proven)
    log.info("ended")


def to_go_on_with(
    error: FootnoteError, *, tried: Settings, told: Settings | None, proven: Settings | None
) -> Settings:
    """The settings to begin anew with after a fault. It is raised where the process was asked to
    end, which it does with this fault then, or where nothing else has worked before."""
    if told is None or (told is tried and proven in (None, tried)):
        raise error
    if told is not tried:
        log.error("not everything could be closed", extra={"cause": str(error)})
        return told
    assert proven is not None
    log.error("the new settings do not work; the old ones hold", extra={"cause": str(error)})
    return proven


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingHouse:
    """Services and platforms as one reading of the settings wants them."""

    services: Services
    opened: OpenPlatforms

    async def work(
        self, page: socket.socket, door: socket.socket, wishes: Wishes, welcome: Welcome
    ) -> Settings | None:
        """Until there are new settings, or none any more."""
        services, platforms = self.services, self.opened.platforms
        parts = web_parts(services, readiness_of(services, platforms), self.opened.mounts)
        config = web_config(services.settings, local_key=welcome.local_key(services.settings))
        await services.stores.sign_ins.end_others({key.fingerprint for key in config.keys})
        app = create_app(parts, config)
        listens_on = page.getsockname()[:2]
        secret = config.local_key.secret if config.local_key else None
        owner = Owner(services, platforms, listens_on=listens_on, local_key=secret)
        private = create_door(parts, owner=owner, shelves=services.librarian)
        give_back()  # what the imports needed; from here on hours may pass without a question
        say_where(listens_on, platforms)
        welcome.show(listens_on, config)
        if not await services.stores.books.all():
            log.warning("there is no book yet; footnote ingest PATH --book ID reads one in")
        return await work_until(
            wishes.next(services.settings),
            services.worker(outlets(services, platforms)),
            [
                services.housekeeping.run(),
                *services.watches(chat_outlets(platforms)),
                services.timetable.run(),
                services.gaps.run(),
                given_back(),
                # The server closes what it is given; who asks meanwhile waits at the socket.
                serve(app, page.dup()),
                serve(private, door.dup()),
                *(kept_apart(platform) for platform in platforms),
            ],
            goodbye=services.web_replies.leave,
        )


@contextlib.asynccontextmanager
async def opened_house(settings: Settings, folder: Path) -> AsyncIterator[WorkingHouse]:
    async with (
        open_services(settings, folder) as services,
        open_platforms(settings, services) as opened,
    ):
        yield WorkingHouse(services=services, opened=opened)


@contextlib.asynccontextmanager
async def open_house(settings: Settings) -> AsyncIterator[Path]:
    """For one command where no bot runs: the core and its private door, no platforms."""
    start_logging(QUIET if settings.log_level != "debug" else "debug", settings.log_format)
    folder = own_folder(settings.data_dir)
    async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(folder_lock(folder, wait_seconds=settings.overlap_seconds))
        await asyncio.to_thread(mend_rights, folder)
        services = await stack.enter_async_context(open_services(settings, folder))
        door = stack.enter_context(door_listener(folder))
        done = asyncio.Event()
        worker = services.worker(services.own_outlets)
        parts = web_parts(services, readiness_of(services, ()), {})
        patience = WebConfig(wait_seconds=settings.answer_seconds + GOODBYE_SECONDS)
        private = create_door(parts, patience, owner=Owner(services), shelves=services.librarian)
        working = asyncio.create_task(work_until(until_done(done), worker, [serve(private, door)]))
        try:
            yield Path(door.getsockname())
        finally:
            done.set()
            await working


async def work_until(
    told: Coroutine[Any, Any, Settings | None],
    worker: Worker,
    others: Sequence[Coroutine[Any, Any, None]],
    *,
    goodbye: Callable[[], None] = lambda: None,
) -> Settings | None:
    """Work until told otherwise; let answers in work end first, then everything else."""
    async with asyncio.TaskGroup() as tasks:
        background = [tasks.create_task(other) for other in others]
        working = tasks.create_task(worker.run())
        again = await told
        worker.stop()
        await asyncio.wait([working], timeout=DRAIN_SECONDS if again is None else ANEW_SECONDS)
        goodbye()
        for task in (working, *background):
            task.cancel()
    return again


async def until_done(done: asyncio.Event) -> None:
    await done.wait()


async def kept_apart(platform: ChatPlatform) -> None:
    """A platform whose end is no end for the others."""
    try:
        await platform.run()
    except FootnoteError as error:
        log.error("platform down", extra={"platform": platform.platform.value, "cause": str(error)})
    except Exception:
        log.exception("platform down by a defect", extra={"platform": platform.platform.value})


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
        platform.platform: Outlet(
            renderer=platform.renderer, replies=TimedReplies(platform.replies)
        )
        for platform in platforms
    }


def web_config(settings: Settings, *, local_key: str | None = None) -> WebConfig:
    host, port = settings.listens_on
    keys = settings.api_keys
    return WebConfig(
        local_key=local_api_key(local_key) if local_key else None,
        open_loopback=settings.open_loopback,
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
            raise ConfigurationError(unheard(host, port, error)) from None
        listener.listen()
        yield listener


def unheard(host: str, port: int, error: OSError) -> str:
    """Why nobody can be heard there, and which setting to change."""
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return (
            f"FOOTNOTE_WEB_HOST is {host!r}, but that is no name or address of this machine"
            f" ({error.strerror}); allowed: a host name or address of it."
        )
    return (
        f"FOOTNOTE_WEB_PORT is {port}, but {host}:{port} cannot be listened on"
        f" ({error.strerror}); choose another port, or 0 for a free one."
    )


def say_where(listens_on: tuple[str, int], platforms: Sequence[ChatPlatform]) -> None:
    host, port = listens_on
    shown = f"[{host}]" if ":" in host else host
    names = [platform.platform.value for platform in platforms]
    log.info("web door open", extra={"address": f"http://{shown}:{port}/", "platforms": names})
