"""The command line of the shelves: footnote books · sources."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bot.arguments import one_of
from bot.command_line import BaseUrl, ItsBook, Json, Site, finish, is_there, there
from rag_core.errors import InvalidQuestion

books = typer.Typer(invoke_without_command=True, rich_markup_mode=None)
sources = typer.Typer(invoke_without_command=True, rich_markup_mode=None)


class ChatPlatform(StrEnum):
    """Where channels are."""

    DISCORD = "discord"
    SLACK = "slack"
    WEB = "web"
    CLI = "cli"


Tenant = Annotated[
    str | None,
    typer.Option(metavar="ID", help="The server or workspace; unset: found by the channel's id."),
]
Channel = Annotated[
    str,
    typer.Argument(metavar="CHANNEL", help="The id of a channel, category, server or workspace."),
]


@books.callback()
def list_books(context: typer.Context, as_json: Json = False) -> None:
    """List the books; bind channels to them; remove them."""
    if context.invoked_subcommand is None:
        from bot.commands.lists import list_books as command

        finish(command(as_json=as_json))


@books.command()
def bind(
    platform: Annotated[
        ChatPlatform,
        typer.Argument(
            parser=one_of(ChatPlatform), metavar="PLATFORM", help="discord, slack, web or cli."
        ),
    ],
    channel: Channel,
    book: Annotated[list[str], typer.Argument(help="The books to read there.", metavar="ID")],
    tenant: Tenant = None,
    as_json: Json = False,
) -> None:
    """Let a channel, category, server or workspace read these books."""
    from bot.commands.books import bind as command

    finish(command(platform.value, channel, book, tenant=tenant, as_json=as_json))


@books.command()
def unbind(
    platform: Annotated[
        ChatPlatform,
        typer.Argument(
            parser=one_of(ChatPlatform), metavar="PLATFORM", help="discord, slack, web or cli."
        ),
    ],
    channel: Channel,
    tenant: Tenant = None,
    as_json: Json = False,
) -> None:
    """Let a place read the default book again."""
    from bot.commands.books import bind as command

    finish(command(platform.value, channel, [], tenant=tenant, as_json=as_json))


@books.command()
def bindings(as_json: Json = False) -> None:
    """List places that read books of their own."""
    from bot.commands.books import list_bindings

    finish(list_bindings(as_json=as_json))


@books.command()
def remove(
    book: Annotated[str, typer.Argument(help="The book to remove.", metavar="ID")],
    as_json: Json = False,
) -> None:
    """Remove a book with all that was read into it."""
    from bot.commands.books import remove as command

    finish(command(book, as_json=as_json))


@sources.callback()
def list_sources(context: typer.Context, as_json: Json = False) -> None:
    """List where books are read from; add, remove."""
    if context.invoked_subcommand is None:
        from bot.commands.sources import list_sources as command

        finish(command(as_json=as_json))


@sources.command()
def add(
    places: Annotated[
        list[str],
        typer.Argument(help="Folders, files, sitemaps or addresses.", metavar="PLACE"),
    ],
    book: ItsBook,
    every: Annotated[
        str,
        typer.Option(
            metavar="TIME", help="How often to read them again: 30m, 6h, 2d; unset: on a signal."
        ),
    ] = "",
    pull: Annotated[bool, typer.Option(help="Run `git pull` in these folders first.")] = False,
    base_url: BaseUrl = "",
    site: Site = "",
    as_json: Json = False,
) -> None:
    """Read a book from here, now and in its time."""
    from bot.commands.sources import add_sources

    same = {"book_id": book, "every": every, "base_url": base_url, "site": site}
    wanted = [{"location": located(place, pull=pull), **same} for place in places]
    finish(add_sources(wanted, as_json=as_json))


@sources.command("remove")
def remove_source(
    source: Annotated[str, typer.Argument(help="Its id or its place.", metavar="SOURCE")],
    as_json: Json = False,
) -> None:
    """Read a source no more; its book stays."""
    from bot.commands.sources import remove_source as command

    finish(command(source, as_json=as_json))


def located(place: str, *, pull: bool) -> str:
    """An address as it is; a path in full, marked where it is pulled first."""
    if place.lower().startswith(("http://", "https://")):
        return place
    path = there(place)
    if not pull:
        return path
    if not is_there(Path(path) / ".git"):
        raise InvalidQuestion("pull", f"{path} is not the top folder of a Git checkout.")
    return f"git:{path}"
