"""Which versions of which files lie in the embedded index, known without asking the engine."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping

from rag_core.providers.index.payload import edition, parts_of


class Editions:
    """Kept beside the index by its one writer, and learnt from it when it is opened."""

    def __init__(self) -> None:
        self._books: defaultdict[str, defaultdict[str, set[int]]] = defaultdict(
            lambda: defaultdict(set)
        )
        self._versions: defaultdict[str, Counter[int]] = defaultdict(Counter)
        """How many files of a book there are of each number."""

    def add(self, names: Iterable[str]) -> None:
        for book_id, version, source_file in map(parts_of, names):
            known = self._books[book_id][source_file]
            if version not in known:
                known.add(version)
                self._versions[book_id][version] += 1

    def versions(self, books: Iterable[str]) -> set[int]:
        """The numbers that the versions of these books' files have."""
        return {number for book in books for number in self._versions.get(book, ())}

    def of(self, book_id: str, source_file: str) -> Collection[int]:
        """The versions of one file, seen or unseen."""
        files = self._books.get(book_id)
        return files.get(source_file, ()) if files else ()

    def names(self, book_id: str) -> list[str]:
        """All versions of all files of one book."""
        files = self._books.get(book_id)
        return [
            edition(book_id, version, source_file)
            for source_file, versions in (files.items() if files else ())
            for version in versions
        ]

    def keep(self, book_id: str, versions: Mapping[str, int | None]) -> None:
        """Of these files nothing is left but these versions."""
        files = self._books[book_id]
        for source_file, version in versions.items():
            for gone in files[source_file] - {version}:
                self._forget(book_id, gone)
            files[source_file] &= {version}
            if not files[source_file]:
                del files[source_file]

    def drop(self, book_id: str) -> None:
        self._books.pop(book_id, None)
        self._versions.pop(book_id, None)

    def _forget(self, book_id: str, version: int) -> None:
        numbers = self._versions[book_id]
        numbers[version] -= 1
        if not numbers[version]:
            del numbers[version]

    def shown(self, book_id: str, hidden: Collection[str]) -> dict[str, int]:
        """The version of each file that is not hidden."""
        files = self._books.get(book_id)
        return {
            source_file: version
            for source_file, versions in (files.items() if files else ())
            for version in versions
            if edition(book_id, version, source_file) not in hidden
        }
