"""What the commands of the command line share: options, paths and their end."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any

import typer

from rag_core.errors import IngestionError, InvalidQuestion

Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]
BaseUrl = Annotated[str, typer.Option(metavar="ADDRESS", help="Where the pages are published.")]
Site = Annotated[
    str, typer.Option(metavar="SITE", help="docusaurus, mkdocs, mdbook, github or plain.")
]
ItsBook = Annotated[str, typer.Option("--book", metavar="ID", help="The book that they belong to.")]


def there(path: str) -> str:
    """The whole path of a file or folder; nothing can be read from one that is not there."""
    if not path:
        # Taken for a path it would be the working folder; it is a variable that is not set.
        raise InvalidQuestion("paths", "One of the paths is empty; name a file or folder.")
    if not is_there(Path(path)):
        raise IngestionError(path, "found", "there is no such file or folder.")
    return str(Path(path).resolve())


def is_there(path: Path) -> bool:
    """Whether there is something; IngestionError where this user may not look."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise IngestionError(
            str(path), "found", f"it cannot be looked at ({error.strerror})."
        ) from error
    return True


def finish(command: Coroutine[Any, Any, int]) -> None:
    """Run a command and end with its exit code."""
    raise typer.Exit(asyncio.run(command))
