"""What the commands of the command line share: options, paths and their end."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any

import typer

from rag_core.errors import IngestionError

Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]


def there(path: str) -> str:
    """The whole path of a file or folder; nothing can be read from one that is not there."""
    if not Path(path).exists():
        raise IngestionError(path, "found", "there is no such file or folder.")
    return str(Path(path).resolve())


def finish(command: Coroutine[Any, Any, int]) -> None:
    """Run a command and end with its exit code."""
    raise typer.Exit(asyncio.run(command))
