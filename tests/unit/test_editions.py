"""What is known of the index's versions agrees with what was added, shown and taken away."""

from __future__ import annotations

from rag_core.providers.edge.editions import Editions
from rag_core.providers.index.payload import edition


def editions(*known: tuple[str, str, int]) -> Editions:
    made = Editions()
    made.add(edition(book_id, version, source_file) for book_id, source_file, version in known)
    return made


def test_a_hidden_version_is_there_and_not_shown() -> None:
    known = editions(("course", "a.md", 1), ("course", "a.md", 2), ("course", "sub/b.md", 4))
    assert set(known.of("course", "a.md")) == {1, 2}
    assert known.shown("course", {edition("course", 2, "a.md")}) == {"a.md": 1, "sub/b.md": 4}


def test_of_a_file_only_the_kept_version_is_left() -> None:
    known = editions(("course", "a.md", 1), ("course", "a.md", 2), ("course", "b.md", 1))
    known.keep("course", {"a.md": 2, "b.md": None, "never-seen.md": 3})
    assert known.shown("course", ()) == {"a.md": 2}
    assert not known.of("course", "b.md")


def test_the_numbers_of_all_versions_are_those_that_files_still_have() -> None:
    known = editions(("course", "a.md", 1), ("course", "a.md", 2), ("course", "b.md", 2))
    known.add([edition("course", 2, "b.md")])
    assert known.versions(["course", "unknown"]) == {1, 2}
    known.keep("course", {"a.md": 1})
    assert known.versions(["course"]) == {1, 2}
    known.keep("course", {"b.md": None})
    assert known.versions(["course"]) == {1}
    known.drop("course")
    assert known.versions(["course"]) == set()


def test_books_with_the_same_files_are_apart() -> None:
    known = editions(("course", "a.md", 1), ("other", "a.md", 7))
    known.drop("course")
    known.drop("never-seen")
    assert known.shown("course", ()) == {}
    assert known.shown("other", ()) == {"a.md": 7}
