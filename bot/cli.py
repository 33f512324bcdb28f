"""The command line: one short function for each command."""

from __future__ import annotations

import asyncio
import contextlib
import io
import logging
import sys
from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

import typer

from bot import eval_cli, owner_cli, shelf_cli
from bot.arguments import fraction, identifier, number
from bot.command_line import BaseUrl, ItsBook, Json, Site, finish, there
from bot.private_folder import make_files_private
from bot.version import own_version
from rag_core.errors import ConfigurationError, FootnoteError, InvalidQuestion, UpstreamError

app = typer.Typer(
    name="footnote",
    help="Answers from your own documents, with a footnote for every sentence.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

app.add_typer(owner_cli.owner)
app.add_typer(eval_cli.measuring)
app.add_typer(shelf_cli.books, name="books")
app.add_typer(owner_cli.staff, name="staff")
app.add_typer(owner_cli.servers, name="servers")
app.add_typer(shelf_cli.sources, name="sources")

FAILED, WRONG_USAGE, INTERRUPTED = 1, 2, 130

Books = Annotated[
    list[str] | None,
    typer.Option("--book", metavar="ID", help="A book to read; may stand several times."),
]

Module = Annotated[str | None, typer.Option(metavar="NAME", help="One of the book's modules.")]


def tell_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"footnote {own_version()}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=tell_version, help="Which version."),
    ] = False,
) -> None:
    """What may stand before every command."""


@app.command()
def run(
    opens: Annotated[
        bool, typer.Option("--open", help="Open the page in a browser, or print its link.")
    ] = False,
) -> None:
    """Start the bot, or without a token the web chat."""
    from bot.settings import read_settings
    from bot.supervisor import supervise

    settings = read_settings()
    asyncio.run(supervise(settings, opens_page=opens))


@app.command("open")
def open_command(
    only_print: Annotated[
        bool, typer.Option("--print", help="Only print the link that signs in.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Open the page of the running bot in a browser, signed in."""
    from bot.commands.open import open_web_page

    finish(open_web_page(only_print=only_print, as_json=as_json))


@app.command()
def ingest(
    paths: Annotated[
        list[str], typer.Argument(help="Files and folders, or addresses.", metavar="PATH")
    ],
    book: ItsBook,
    base_url: BaseUrl = "",
    site: Site = "",
    mode: Annotated[
        str, typer.Option(metavar="MODE", help="incremental, full or recreate.")
    ] = "incremental",
    title: Annotated[str, typer.Option(metavar="TITLE", help="The book's name for readers.")] = "",
    embed_anew: Annotated[
        bool,
        typer.Option(
            "--embed-anew", help="With full or recreate: embed text again that did not change."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Read files, folders or addresses into a book."""
    from bot.commands.ingest import ingest as command

    job = {
        "book_id": book,
        **located(paths),
        "mode": mode,
        "base_url": base_url,
        "site": site,
        "title": title,
        "embed_anew": embed_anew,
    }
    finish(command({name: value for name, value in job.items() if value}, as_json=as_json))


@app.command()
def search(
    text: Annotated[str, typer.Argument(help="What to look for.", metavar="TEXT")],
    book: Books = None,
    limit: Annotated[int | None, number("1 to 100.")] = None,
    module: Module = None,
    chapter_min: Annotated[int | None, number("0 to 20.")] = None,
    chapter_max: Annotated[int | None, number("0 to 20.")] = None,
    lesson: Annotated[int | None, number("0 to 15.")] = None,
    hardware_tier: Annotated[int | None, number("1 to 4: this tier or lower.")] = None,
    proficiency: Annotated[
        str | None, typer.Option(metavar="LEVELS", help="A1,A2,B1,B2,C1,C2")
    ] = None,
    layer: Annotated[str | None, typer.Option(metavar="LAYER", help="L1 to L4.")] = None,
    parent: Annotated[str | None, typer.Option(metavar="ID", help="The id of one lesson.")] = None,
    threshold: Annotated[
        float | None, typer.Option(parser=fraction, metavar="F", help="Least similarity, 0 to 1.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Find the passages nearest to a text."""
    from bot.commands.search import search as command

    query = {
        "text": text,
        "book_ids": book,
        "limit": limit,
        "module": module,
        "chapter_min": chapter_min,
        "chapter_max": chapter_max,
        "lesson": lesson,
        "hardware_tier": hardware_tier,
        "proficiency_levels": proficiency.split(",") if proficiency else None,
        "layer": layer,
        "parent_doc_id": parent,
        "similarity_threshold": threshold,
    }
    finish(command({k: v for k, v in query.items() if v is not None}, as_json=as_json))


@app.command()
def ask(
    text: Annotated[str, typer.Argument(help="The question.", metavar="TEXT")],
    book: Books = None,
    session: Annotated[
        UUID | None,
        typer.Option(parser=identifier, metavar="UUID", help="Go on in this conversation."),
    ] = None,
    module: Module = None,
    top_k: Annotated[int | None, number("1 to 10.")] = None,
    as_json: Json = False,
    verbose: Annotated[bool, typer.Option("-v", help="Show how long each step took.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show what was found.")] = False,
) -> None:
    """Ask one question; the answer carries footnotes."""
    from bot.commands.ask import ask as command

    question = {
        "message": text,
        "book_ids": book,
        "session_id": str(session) if session else None,
        "module": module,
        "top_k": top_k,
    }
    wanted = {name: value for name, value in question.items() if value is not None}
    finish(command(wanted, as_json=as_json, verbose=verbose, explains=explain))


@app.command()
def jobs(as_json: Json = False) -> None:
    """List the ingestion jobs, the last started first."""
    from bot.commands.lists import list_jobs

    finish(list_jobs(as_json=as_json))


def located(paths: Sequence[str]) -> dict[str, list[str]]:
    """Addresses as they are, or paths in full; not both in one run."""
    addresses = [path for path in paths if path.lower().startswith(("http://", "https://"))]
    if not addresses:
        return {"paths": [there(path) for path in paths]}
    if len(addresses) < len(paths):
        raise InvalidQuestion("paths", "Name either paths or addresses in one run, not both.")
    return {"urls": addresses}


def main() -> None:
    """The entry point: every error becomes a sentence and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal of an older encoding: a mark that it cannot show is no reason to end.
            stream.reconfigure(errors="replace")
    make_files_private()
    try:
        check_words(sys.argv[1:])
        app()
    except (ConfigurationError, InvalidQuestion) as error:
        complain(str(error))
        sys.exit(WRONG_USAGE)
    except UpstreamError as error:
        complain(f"{error}. `footnote doctor` says what to check.")
        sys.exit(FAILED)
    except FootnoteError as error:
        complain(str(error) or type(error).__name__)
        sys.exit(FAILED)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Exception as error:
        complain(
            f"This should not have happened ({type(error).__name__});"
            " FOOTNOTE_LOG_LEVEL=debug shows where."
        )
        log_as_told()
        logging.getLogger("bot").debug("a defect", exc_info=error)
        sys.exit(FAILED)


def check_words(words: Sequence[str]) -> None:
    """Bytes that are no text stand in a word as halves of surrogate pairs."""
    for word in words:
        try:
            word.encode("utf-8")
        except UnicodeEncodeError:
            raise InvalidQuestion("word", f"{word!a} is not text in UTF-8.") from None


def log_as_told() -> None:
    """Also where a command broke off before it began to log."""
    from bot.logs import start_logging
    from bot.settings import read_settings

    with contextlib.suppress(FootnoteError):
        settings = read_settings()
        start_logging(settings.log_level, settings.log_format)


def complain(sentence: str) -> None:
    for line in sentence.splitlines():
        sys.stderr.write(f"footnote: {line}\n")
