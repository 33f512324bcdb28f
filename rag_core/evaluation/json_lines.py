"""JSON Lines files that people write: each row with its place, and what is wrong with it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_core.errors import ConfigurationError, IngestionError


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of a JSON Lines file, and where it stands."""

    file: Path
    line: int
    fields: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.file}, line {self.line} (id {self.fields['id']})"


def rows(file: Path) -> Iterator[Row]:
    """The lines of a JSON Lines file; a broken one is named by its number."""
    known: dict[str, int] = {}
    with reading(file), file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            row = Row(file=file, line=number, fields=fields_of(line, file, number))
            first = known.setdefault(str(row.fields["id"]), number)
            if first != number:
                raise ConfigurationError(f"{row}: line {first} has the same id.")
            yield row


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """What this user may not read is named."""
    try:
        yield
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read ({error.strerror}).") from error


def fields_of(line: bytes, file: Path, number: int) -> Mapping[str, Any]:
    try:
        fields = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{file}, line {number}: this is not UTF-8.") from error
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{file}, line {number}: this is not JSON.") from error
    if not isinstance(fields, dict) or "id" not in fields:
        raise ConfigurationError(f"{file}, line {number}: an object with an id is expected.")
    return fields


@contextlib.contextmanager
def faults_of(row: Row) -> Iterator[None]:
    """What a row lacks or has in another form is for the set's author to put right."""
    try:
        yield
    except KeyError as error:
        raise ConfigurationError(f"{row}: there is no {error}.") from error
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"{row}: {error}.") from error
    except IngestionError as error:
        raise ConfigurationError(f"{row}: {error}") from error
    except OSError as error:
        reason = f"{error.filename} cannot be read ({error.strerror})"
        raise ConfigurationError(f"{row}: {reason}.") from error


def ids(row: Mapping[str, Any], name: str) -> list[str]:
    """A list; one text alone would be taken for its letters."""
    found = row.get(name) or []
    if not isinstance(found, list):
        raise TypeError(f'{name} is a list, as in ["a", "b"]; it was {found!r}')
    return [str(each) for each in found]
