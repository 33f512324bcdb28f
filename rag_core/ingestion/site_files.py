"""Files of a site that its pages take text and values from, none of them outside its folder."""

from __future__ import annotations

import os
import posixpath
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from rag_core.ingestion.front_matter import Loader, has_aliases

MOST_BYTES = 256 * 1024
"""Of one file that a page includes, or takes values from."""
LONGEST_PATH = 300
NAME = re.compile(r"[\w-]{1,80}")
DEEPEST = 10
"""Names in the path of one value."""
MOST_BRACKETS = 20_000
"""Brackets in a file of values: deep nests of them keep a parser busy for minutes."""
PARTS = (
    "",
    "_includes",
    "includes",
    "include",
    "content/includes",
    "src/_includes",
    "snippets",
    "_snippets",
)
"""Where sites keep texts that several pages share, below their own folder."""
FROM_SITE = re.compile(r"(?:@\w*|~)?/")
"""Begins a path that is counted from the folder of the site: `@site/docs/_rules.md`."""
VALUES = (".yml", ".yaml", ".json", ".toml")
SETTINGS = (
    "_config.yml",
    "_config.yaml",
    "hugo.yaml",
    "hugo.yml",
    "hugo.toml",
    "config.yaml",
    "config.toml",
)


class SiteFiles:
    """What a page may take from other files: what lies in the folder that is read, not hidden."""

    def __init__(self, root: Path, page: Path) -> None:
        self._root = os.path.realpath(root)
        folder = os.path.relpath(os.path.realpath(page.parent), self._root)
        parts = [] if folder == "." else folder.split(os.sep)
        self._folders = ["/".join(parts[:count]) for count in range(len(parts), -1, -1)]
        """The page's folder and those above it, the nearest first, as seen from the root."""
        self._is_inside = ".." not in parts
        self._values: dict[str, str | None] = {}

    def text(self, name: str, places: Sequence[str] = PARTS) -> str | None:
        """A text by the path that a page gives, counted from its folder or one above it."""
        found = self._find(name.strip().lstrip("/"), places)
        return None if found is None else read_text(found, *stamp(found))

    def partial(self, path: str) -> str | None:
        """The real path of a file that a page imports, by the path in the import."""
        if len(path) > LONGEST_PATH or "\0" in path or not self._is_inside:
            return None
        if path.startswith(("./", "../")):
            return self._allowed(posixpath.normpath(posixpath.join(self._folders[0], path)))
        from_site = FROM_SITE.match(path)
        if from_site is None:
            return None  # a package's file
        path = path[from_site.end() :]
        return self._find(path, ("",)) or self._find(self._below_root(path), ("",))

    def _below_root(self, path: str) -> str:
        """A path from the folder of the site where the folder that is read is a part of it."""
        names, root = path.split("/"), self._root.split(os.sep)
        for count in range(len(names) - 1, 0, -1):
            if root[-count:] == names[:count]:
                return "/".join(names[count:])
        return ""

    def beside(self, real: str) -> SiteFiles:
        """The files as they are seen from another one below the same folder."""
        return SiteFiles(Path(self._root), Path(real))

    def value(self, path: str) -> str | None:
        """A value by its name, such as `site.data.prices.first` or `variables.product.name`."""
        if path not in self._values:
            self._values[path] = self._looked_up(path)
        return self._values[path]

    def _looked_up(self, path: str) -> str | None:
        names = path.split(".")
        if len(names) > DEEPEST or not all(NAME.fullmatch(name) for name in names):
            return None
        for places, wanted in readings(names):
            for name in places:
                found = self._find(name, ("",))
                values = None if found is None else values_in(found, *stamp(found))
                value = picked(values, wanted)
                if value is not None:
                    return value
        return None

    def _find(self, name: str, places: Sequence[str]) -> str | None:
        """The real path of a file that a page may see, else nothing."""
        if not name or len(name) > LONGEST_PATH or "\0" in name or not self._is_inside:
            return None
        for folder in self._folders:
            for place in places:
                path = posixpath.normpath(posixpath.join(folder, place, name))
                if found := self._allowed(path):
                    return found
        return None

    def _allowed(self, path: str) -> str | None:
        """The same without links, where it is a small regular file below the root."""
        if path.startswith(("../", "/")) or path in {".", ".."}:
            return None
        named = f"{self._root}/{path}"
        try:
            found = os.stat(named)
        except (OSError, ValueError):
            return None
        if not stat.S_ISREG(found.st_mode) or found.st_size > MOST_BYTES:
            return None
        real = os.path.realpath(named)
        below = real.removeprefix(f"{self._root.rstrip(os.sep)}{os.sep}")
        is_hidden = any(part.startswith(".") for part in below.split(os.sep))
        return None if below == real or is_hidden else real


def readings(names: Sequence[str]) -> Iterator[tuple[list[str], Sequence[str]]]:
    """The files that a value may stand in, and its name there."""
    if names[0] in {"site", "params"} and len(names) > 1:
        if names[1] == "data" and len(names) > 2:
            yield (
                [
                    f"{folder}/{names[2]}{end}"
                    for folder in ("_data", "data", "src/_data")
                    for end in VALUES
                ],
                names[3:],
            )
            return
        wanted = names[1:]
        yield [f"{folder}/site{end}" for folder in ("_data", "src/_data") for end in VALUES], wanted
        yield list(SETTINGS), wanted
        yield list(SETTINGS), ["params", *wanted]
        return
    if len(names) > 1:
        folders = names[:-1]
        for count in range(len(folders), 0, -1):
            path = "/".join(folders[:count])
            yield (
                [
                    f"{place}/{path}{end}"
                    for place in ("data", "_data", "src/_data")
                    for end in VALUES
                ],
                names[count:],
            )


def picked(values: Any, names: Sequence[str]) -> str | None:
    """A text or number deep in what a file says."""
    for name in names:
        if not isinstance(values, Mapping) or name not in values:
            return None
        values = values[name]
    if isinstance(values, bool) or not isinstance(values, str | int | float):
        return None
    return str(values)


def stamp(path: str) -> tuple[int, int]:
    """What changes with a file's content."""
    try:
        found = os.stat(path)
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=256)
def read_text(path: str, changed: int, size: int) -> str | None:
    """A file as text; one that is none, or cannot be read, says nothing."""
    try:
        opened = os.open(
            path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        )
        with os.fdopen(opened, "rb") as file:
            text = file.read(MOST_BYTES + 1).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
    return (
        None
        if len(text) > MOST_BYTES or "\0" in text
        else text.replace("\r\n", "\n").replace("\r", "\n")
    )


@lru_cache(maxsize=256)
def values_in(path: str, changed: int, size: int) -> Any:
    """What a file of values says; nothing where it is damaged, or made to be slow."""
    text = read_text(path, changed, size)
    if text is None or sum(map(text.count, "[{")) > MOST_BRACKETS:
        return None
    try:
        if path.endswith(".toml"):
            return tomllib.loads(text)
        return None if has_aliases(text) else yaml.load(text, Loader=Loader)  # noqa: S506 - a safe loader, in C
    except (yaml.YAMLError, tomllib.TOMLDecodeError, ValueError, RecursionError):
        return None
