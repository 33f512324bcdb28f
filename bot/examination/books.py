"""The books: which one is read, and how the last readings of them and their sources went."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from adapters.steward import Finding
from bot.examination.look import Check, in_place, missing, warning
from bot.output import counted
from bot.services import Services
from rag_core.books.book import Book, BookIds
from rag_core.books.policy import Place
from rag_core.books.source import BookSource
from rag_core.ingestion.gathering import is_fetched
from rag_core.ingestion.job import FileFailure, IngestionJob, JobStatus

JOBS_LOOKED_AT = 50
READ_AGAIN = (
    "The index is not the one that the books were read into: put that one back, or read them"
    " again with `footnote ingest`."
)
LOOK_AT_BOOKS = "Look at `footnote books`."
CORRECT_CLOSED = "Correct FOOTNOTE_CLOSED_BOOKS; `footnote books` lists them."
NAMED = 3
"""Of the files that could not be read; the job has them all."""
MEND_FILES = (
    "The rest of the book is found. Mend these files, or take them out of the folder, and read it"
    " again with `footnote ingest`; `footnote jobs --json` names all of them."
)
SOURCE_ADVICE = "footnote sources lists them; footnote jobs --json tells all of a run."


def of_books(services: Services, within: Place | None, category_id: str) -> Sequence[Check]:
    """What they hold and where they are read from. Admins in a chat are told nothing of books
    that are closed to the place where they ask."""

    async def visible() -> Sequence[Book]:
        if within is None:
            return await services.stores.books.all()
        return await services.library.visible_books(within, category_id=category_id)

    async def default() -> Sequence[Finding]:
        if within is None:
            return [await default_book(services)]
        return [await books_here(services, within, category_id)]

    async def books() -> Sequence[Finding]:
        known = await visible()
        jobs = await services.stores.jobs.recent(limit=JOBS_LOOKED_AT)
        read_from = await services.stores.sources.all()
        return [of_book(book, last_of(book, jobs, read_from)) for book in known]

    async def passages() -> Sequence[Finding]:
        known = await visible()
        ids = BookIds([book.book_id for book in known] or ["none"])
        count = await services.vectors.count(books=ids)
        embedder = services.embedder
        detail = f"{count} of {counted(len(known), 'book')} can be found, by {embedder.model}"
        whole = sum(book.chunks for book in known)
        if count < whole:
            return [missing("passages", f"{detail}; {whole} were read.", READ_AGAIN)]
        return [in_place("passages", f"{detail} ({embedder.dimension} dimensions).")]

    async def sources() -> Sequence[Finding]:
        closed: Collection[str] = ()
        if within is not None:
            closed = await services.library.closed_to(within, category_id=category_id)
        read_from = await services.stores.sources.all()
        return [of_source(each) for each in read_from if each.book_id not in closed]

    return [
        Check(name="passages", look=passages, advice="See what stands beside the index."),
        Check(name="default book", look=default, advice=LOOK_AT_BOOKS),
        Check(name="books", look=books, advice=LOOK_AT_BOOKS),
        Check(name="sources", look=sources, advice=SOURCE_ADVICE),
    ]


def of_closed_books(services: Services) -> Check:
    """Whether each book that is to be closed is there: a slip of the pen leaves one open."""

    async def closed() -> Sequence[Finding]:
        wanted = services.settings.books_closed
        there = {book.book_id for book in await services.stores.books.all()}
        if absent := sorted(wanted - there):
            detail = f"FOOTNOTE_CLOSED_BOOKS names {', '.join(absent)}; there is no such book."
            return [warning("closed books", detail, CORRECT_CLOSED)]
        return [in_place("closed books", f"{', '.join(sorted(wanted)) or 'none'}.")]

    return Check(name="closed books", look=closed, advice=LOOK_AT_BOOKS)


async def default_book(services: Services) -> Finding:
    books = await services.library.default()
    if books is not None:
        closed = services.settings.books_closed.intersection(books)
        where = "only on the page: it is closed to chats" if closed else "where no other is bound"
        return in_place("default book", f"{', '.join(books)} is read {where}.")
    wanted = services.settings.default_book
    if wanted is not None:
        return missing(
            "default book",
            f"FOOTNOTE_DEFAULT_BOOK is {wanted}, and there is no such book.",
            f"footnote ingest PATH --book {wanted}",
        )
    there = await services.stores.books.all()
    if not there:
        return missing("default book", "There is no book yet.", "footnote ingest PATH --book ID")
    return missing(
        "default book",
        f"There are {len(there)} books, and none is the default.",
        "Set FOOTNOTE_DEFAULT_BOOK, or bind channels: footnote books bind PLATFORM CHANNEL ID",
    )


async def books_here(services: Services, place: Place, category_id: str) -> Finding:
    rules = await services.library.rules_for(
        platform=place.platform,
        tenant=place.tenant,
        channel_id=place.channel_id,
        category_id=category_id,
    )
    if rules.books is not None:
        return in_place("books here", f"{', '.join(rules.books)} is read here.")
    return missing(
        "books here",
        "No book is read here yet.",
        "Choose one for this place, or ask whoever runs Footnote to bind one.",
    )


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


def last_of(
    book: Book, jobs: Sequence[IngestionJob], sources: Sequence[BookSource]
) -> IngestionJob | None:
    own = {source.location for source in sources if source.book_id == book.book_id}
    relevant = (job for job in jobs if job.book_id == book.book_id and not is_past(job, own))
    return next(relevant, None)


def is_past(job: IngestionJob, own: Collection[str]) -> bool:
    """Whether it failed over sources that were removed since: nobody can mend that. A folder may
    have been named by hand, and is none of these."""
    gone = all(is_fetched(each) and each not in own for each in job.sources)
    return gone and job.status is JobStatus.FAILED


def of_book(book: Book, job: IngestionJob | None) -> Finding:
    """A book, with the reason why its last run failed if it did."""
    name = f"book {book.book_id}"
    read = book.last_incremental_update or book.last_full_ingest
    when = f", read {read:%Y-%m-%d %H:%M} UTC" if read else ""
    there = f"{book.files} files, {book.chunks} passages{when}"
    if job is None or (job.status is not JobStatus.FAILED and not job.failures):
        return in_place(name, f"{there}.")
    if job.status is JobStatus.FAILED:
        reason = job.error_message or unread(job.failures)
        return missing(
            name, f"{there}; last run: {reason}", "footnote jobs --json tells all of it."
        )
    return warning(name, f"{there}; last run: {unread(job.failures)}", MEND_FILES)


def unread(failures: Sequence[FileFailure]) -> str:
    """The files that could not be read, the first of them by name and with the reason."""
    if not failures:
        return "no reason was given"
    count = "1 file" if len(failures) == 1 else f"{len(failures)} files"
    named = "; ".join(f"{each.source_file}: {each.reason}" for each in failures[:NAMED])
    more = len(failures) - NAMED
    return f"{count} could not be read: {named}" + (f"; and {more} more" if more > 0 else "")
