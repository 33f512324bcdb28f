"""footnote backup · restore: the whole house into one file, and back onto an empty host."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bot.backup import restore_backup
from bot.commands.lists import minute
from bot.door import own_folder
from bot.output import notices, print_json, terminal
from bot.reach import reach
from bot.settings import read_settings
from rag_core.storage.engines.folder_lock import folder_lock


async def backup(file: Path, *, as_json: bool) -> int:
    """The house does it: the running one, or one opened for the occasion."""
    async with reach(read_settings()) as house:
        with notices().status("Copying…"):
            made = await house.post("/backup", {"file": str(file)})
    show(str(file), made, as_json=as_json)
    return 0


async def restore(file: Path, *, as_json: bool) -> int:
    settings = read_settings()
    folder = own_folder(settings.data_dir)
    async with folder_lock(folder, wait_seconds=0):
        with notices().status("Restoring…"):
            made = await restore_backup(file, database=settings.database, folder=folder)
    document = {name: getattr(made, name) for name in made.__slots__}
    show(f"restored into {folder}", document, as_json=as_json)
    if not made.has_index:
        notices().print("The backup holds no index: run `footnote ingest … --mode full` once.")
    return 0


def show(what: str, made: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(made)
        return
    index = "with its index" if made["has_index"] else "without an index (it lies on a server)"
    terminal().print(
        f"{what}; {made['rows']} rows of {minute(made['created_at'])}, {index}.", soft_wrap=True
    )
