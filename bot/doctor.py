"""Is everything in place? Each part of an open house, looked at in turn."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime

from adapters.platform import ChatPlatform
from adapters.steward import Finding
from bot.wiring import Services
from rag_core.agent.model_events import ToolChoice
from rag_core.books.book import Book, BookIds
from rag_core.books.source import BookSource
from rag_core.conversation.message import Message
from rag_core.errors import FootnoteError
from rag_core.ingestion.job import IngestionJob, JobStatus

LOOK_SECONDS = 15.0
"""How long one part may take to answer."""
JOBS_LOOKED_AT = 50
PROBE_TOKENS = 16
SOURCE_ADVICE = "footnote sources lists them; footnote jobs --json tells all of a run."

Look = Callable[[], Awaitable[Finding]]


class Doctor:
    """Asks database, index, models and platforms for something small."""

    def __init__(self, services: Services, platforms: Sequence[ChatPlatform] = ()) -> None:
        self._services = services
        self._platforms = platforms

    async def house(self) -> Sequence[Finding]:
        """What every platform stands on."""
        looks: Sequence[tuple[str, Look, str]] = (
            ("database", self._database, "Start the database, or correct DATABASE_URL."),
            ("index", self._index, "Start Qdrant, or correct QDRANT_URL and QDRANT_API_KEY."),
            ("embedder", self._embedder, "Check the embedder's key, address and model name."),
            ("language model", self._model, "Check OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL."),
            ("default book", self._default_book, "Look at `footnote books`."),
        )
        found = [await looked(name, look, advice) for name, look, advice in looks]
        return [*found, *await self._books(), *await self._sources()]

    async def everything(self) -> Sequence[Finding]:
        """The house, then each platform's own words."""
        found = list(await self.house())
        for platform in self._platforms:
            found += await platform.findings()
        return found

    async def _database(self) -> Finding:
        waiting = await self._services.stores.ledger.waiting()
        engine = self._services.settings.database.partition(":")[0]
        kind = "SQLite" if engine == "sqlite" else "PostgreSQL"
        return in_place("database", f"{kind} answers; {waiting} questions are open.")

    async def _index(self) -> Finding:
        embedder = self._services.embedder
        books = [book.book_id for book in await self._services.stores.books.all()]
        passages = await self._services.vectors.count(books=BookIds(books or ["none"]))
        where = "a Qdrant server" if self._services.settings.qdrant_url else "embedded"
        return in_place(
            "index",
            f"{where}; {passages} passages of {len(books)} books,"
            f" built with {embedder.model} ({embedder.dimension} dimensions).",
        )

    async def _embedder(self) -> Finding:
        vector = await self._services.embedder.embed_query("Is anybody there?")
        return in_place("embedder", f"{self._services.embedder.model} gives {len(vector)} numbers.")

    async def _model(self) -> Finding:
        model = self._services.model
        if self._services.settings.chat_model == "quoting":
            return in_place("language model", "The quoting model answers; it needs no key.")
        stream = model.stream(
            [Message.user("Say yes.", at=datetime.now(UTC))],
            tools=(),
            tool_choice=ToolChoice.NONE,
            temperature=0.0,
            max_tokens=PROBE_TOKENS,
        )
        async for _ in stream:
            pass
        return in_place("language model", f"{model.name} answers.")

    async def _default_book(self) -> Finding:
        books = await self._services.library.default()
        if books is not None:
            return in_place("default book", f"{', '.join(books)} is read where no other is bound.")
        wanted = self._services.settings.default_book
        if wanted is not None:
            return missing(
                "default book",
                f"FOOTNOTE_DEFAULT_BOOK is {wanted}, and there is no such book.",
                f"footnote ingest PATH --book {wanted}",
            )
        there = await self._services.stores.books.all()
        if not there:
            return missing(
                "default book", "There is no book yet.", "footnote ingest PATH --book ID"
            )
        return missing(
            "default book",
            f"There are {len(there)} books, and none is the default.",
            "Set FOOTNOTE_DEFAULT_BOOK, or bind channels: footnote books bind PLATFORM CHANNEL ID",
        )

    async def _books(self) -> Sequence[Finding]:
        """What the last run over each book left behind."""
        try:
            books = await self._services.stores.books.all()
            jobs = await self._services.stores.jobs.recent(limit=JOBS_LOOKED_AT)
        except FootnoteError:
            return ()  # the finding on the database says so
        return [of_book(book, last_of(book, jobs)) for book in books]

    async def _sources(self) -> Sequence[Finding]:
        """How the last readings of the books' sources went."""
        try:
            return [of_source(each) for each in await self._services.stores.sources.all()]
        except FootnoteError:
            return ()


def of_source(source: BookSource) -> Finding:
    """A source, with the reason where it could not be read the last time."""
    name = f"source {source.location}"
    read = source.last_success
    when = f"last read {read:%Y-%m-%d %H:%M} UTC" if read else "never read yet"
    if not source.last_error:
        return in_place(name, f"of {source.book_id}; {when}.")
    return missing(
        name, f"of {source.book_id}; {when}; the last time: {source.last_error}", SOURCE_ADVICE
    )


def last_of(book: Book, jobs: Sequence[IngestionJob]) -> IngestionJob | None:
    return next((job for job in jobs if job.book_id == book.book_id), None)


def of_book(book: Book, job: IngestionJob | None) -> Finding:
    """A book, with the reason why its last run failed if it did."""
    name = f"book {book.book_id}"
    read = book.last_incremental_update or book.last_full_ingest
    when = f", read {read:%Y-%m-%d %H:%M} UTC" if read else ""
    there = f"{book.files} files, {book.chunks} passages{when}"
    if job is None or (job.status is not JobStatus.FAILED and not job.failures):
        return in_place(name, f"{there}.")
    if job.status is JobStatus.FAILED:
        reason = job.error_message or "no reason was given"
    else:
        first = job.failures[0]
        reason = f"{len(job.failures)} files could not be read; {first.source_file}: {first.reason}"
    return missing(name, f"{there}; last run: {reason}", "footnote jobs --json tells all of it.")


def in_place(name: str, detail: str) -> Finding:
    return Finding(name=name, in_place=True, detail=detail)


def missing(name: str, detail: str, advice: str) -> Finding:
    return Finding(name=name, in_place=False, detail=detail, advice=advice)


async def looked(name: str, look: Look, advice: str) -> Finding:
    """What a look finds; what it meets with is a finding too."""
    try:
        async with asyncio.timeout(LOOK_SECONDS):
            return await look()
    except TimeoutError:
        return missing(name, f"no answer within {LOOK_SECONDS:.0f} s.", advice)
    except FootnoteError as error:
        return missing(name, str(error), advice)
