"""From bytes to named, linked chunks: front matter, course fields, ids, links, encodings."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.errors import IngestionError
from rag_core.ingestion.course import course_place
from rag_core.ingestion.cutting import Edition, Shelf, chunks_of, embedded_text
from rag_core.ingestion.documents import DocumentChunk
from rag_core.ingestion.front_matter import split_front_matter
from rag_core.ingestion.headings import Site, headings_of, plain
from rag_core.ingestion.identity import (
    NAMESPACE,
    chunk_ids,
    content_hash,
    lesson_owners,
    parent_id,
    place_of,
)
from rag_core.ingestion.links import page_url
from rag_core.ingestion.loaders import load
from rag_core.ingestion.loaders.decoding import DISGUISED
from rag_core.ingestion.sources import find_files
from tests.shelf_builders import MORNING, long_text, write_files


def read(text: str | bytes, *, file: str = "page.md", **shelf: Any) -> tuple[DocumentChunk, ...]:
    content = text if isinstance(text, bytes) else text.encode()
    document = load(file, content)
    return chunks_of(
        document,
        course_place(file, document.fields),
        shelf=Shelf(book_id="course", **shelf),
        edition=Edition(version=1, created_at=MORNING, updated_at=MORNING),
    )


# Ids


def test_ids_are_spelt_as_other_programs_expect_them() -> None:
    text = long_text("gear")
    chunk = read(f"---\nmodule: m1\nchapter: 2\nlesson: 0\n---\n{text}")[0]
    assert chunk.metadata.content_hash == content_hash(text)
    name = f"course:m1:2:0:{content_hash(text)[:16]}"
    assert chunk.id == str(uuid5(NAMESPACE, name))
    assert chunk.metadata.parent_doc_id == str(uuid5(NAMESPACE, "course:m1:2:0:parent"))
    plain_file = read(text, file="docs/a.md")[0]
    assert plain_file.id == str(uuid5(NAMESPACE, f"course:docs/a.md:{content_hash(text)[:16]}"))
    assert plain_file.metadata.parent_doc_id == parent_id("course:docs/a.md")


@given(st.lists(st.sampled_from(["alpha", "bravo", "charlie", "delta"]), max_size=12))
def test_ids_are_unique_stable_and_told_apart_where_a_text_repeats(words: list[str]) -> None:
    hashes = [content_hash(word) for word in words]
    place = place_of("course", source_file="a.md", claim=None)
    ids = chunk_ids(place, hashes)
    assert len(set(ids)) == len(ids)
    assert ids == chunk_ids(place, hashes)
    for number, (word, chunk_id) in enumerate(zip(words, ids, strict=True)):
        if words.index(word) == number:
            assert chunk_id == chunk_ids(place, [content_hash(word)])[0]


@given(st.lists(st.tuples(st.text("abc", min_size=1, max_size=3), st.integers(0, 2)), max_size=8))
def test_a_lesson_belongs_to_the_first_path_whatever_the_order(
    files: list[tuple[str, int]],
) -> None:
    claims = [(name, ("m", 1, lesson)) for name, lesson in dict(files).items()]
    owners = lesson_owners(claims)
    assert owners == lesson_owners(reversed(claims))
    for name, claim in claims:
        assert owners[claim] <= name


@given(st.lists(st.sampled_from(["gear", "oven", "door", "tray", "lamp"]), min_size=1, max_size=10))
def test_the_chain_of_a_page_has_no_gap_and_no_loose_end(subjects: list[str]) -> None:
    page = "\n\n".join(f"## {subject}\n\n{long_text(subject)}" for subject in subjects)
    chunks = read(page)
    by_id = {chunk.id: chunk for chunk in chunks}
    assert len(by_id) == len(chunks) == len(subjects)
    walked, at = [], chunks[0]
    while True:
        walked.append(at.id)
        assert len(walked) <= len(chunks)
        if at.metadata.next_chunk_id is None:
            break
        following = by_id[at.metadata.next_chunk_id]
        assert following.metadata.prev_chunk_id == at.id
        at = following
    assert walked == [chunk.id for chunk in chunks]
    assert [c.metadata.chunk_index for c in chunks] == list(range(len(chunks)))
    assert {c.metadata.total_chunks for c in chunks} == {len(chunks)}
    assert len({c.metadata.parent_doc_id for c in chunks}) == 1


@given(st.integers(0, 5), st.integers(0, 5))
def test_an_edit_changes_the_id_of_the_edited_passage_only(edited: int, other: int) -> None:
    subjects = ["gear", "oven", "door", "tray", "lamp", "fork"]
    before = read("\n\n".join(f"## {s}\n\n{long_text(s)}" for s in subjects))
    subjects[edited] = "spoon"
    after = read("\n\n".join(f"## {s}\n\n{long_text(s)}" for s in subjects))
    assert (before[other].id == after[other].id) == (edited != other)


# Titles, breadcrumbs, text


def test_the_breadcrumb_stands_before_what_is_embedded_and_not_in_the_text() -> None:
    page = f"# Oven guide\n\n## Door\n\n### Hinges\n\n{long_text('hinge')}"
    (chunk,) = read(page)
    assert chunk.metadata.breadcrumb == "Oven guide › Door › Hinges"
    assert chunk.metadata.page_title == "Oven guide"
    assert chunk.metadata.section_heading == "Hinges"
    assert chunk.text == long_text("hinge")
    assert embedded_text(chunk) == f"Oven guide › Door › Hinges\n\n{long_text('hinge')}"
    assert chunk.word_count == len(chunk.text.split())
    assert chunk.token_count == round(chunk.word_count * 1.3)
    assert chunk.char_count == len(chunk.text)


@pytest.mark.parametrize(
    ("file", "text", "title"),
    [
        ("a.md", "---\ntitle: From front matter\n---\n# Heading\n\n", "From front matter"),
        ("a.md", "# The *heading* of `a`\n\n", "The heading of a"),
        ("a.md", "The Title\n=========\n\n", "The Title"),
        ("03-getting_started.md", "", "Getting started"),
        ("guide/README.md", "", "Guide"),
        ("notes.txt", "", "Notes"),
        ("a.md", "---\ntitle: 7\n---\n", "A"),
    ],
)
def test_a_page_has_a_title_in_any_case(file: str, text: str, title: str) -> None:
    assert read(text + long_text("gear"), file=file)[0].metadata.page_title == title


def test_text_above_the_first_section_leads_to_the_top_of_the_page() -> None:
    page = f"# Title\n\n{long_text('intro')}\n\n## More\n\n{long_text('more')}"
    intro, more = read(page, base_url="https://docs.example")
    assert (intro.metadata.section_heading, intro.metadata.breadcrumb) == ("", "Title")
    assert intro.metadata.page_url == "https://docs.example/page"
    assert more.metadata.page_url == "https://docs.example/page#more"


def test_plain_text_has_no_headings() -> None:
    chunks = read(f"# not a heading\n\n{long_text('note')}", file="notes.txt")
    assert "# not a heading" in chunks[0].text


def test_comments_and_components_are_left_out_but_not_from_code() -> None:
    page = (
        "import Tabs from '@theme/Tabs';\n\n# Title\n\n<Tabs>\n\n"
        "<!-- hidden\nnote -->Shown {/* gone */} text that is long enough.\n\n</Tabs>\n\n"
        "```jsx\nimport Tabs from '@theme/Tabs';\n<Tabs>\n<!-- kept -->\n```\n"
    )
    text = read(page, file="page.mdx")[0].text
    assert "hidden" not in text
    assert "gone" not in text
    assert "Shown" in text
    assert text.count("<Tabs>") == text.count("import Tabs") == text.count("kept") == 1


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + "# Café\n\nText that is long enough.".encode(),
        "# Café\n\nText that is long enough.".encode("utf-16"),
        "# Café\r\n\r\nText that is long enough.".encode(),
        "# Café\r\rText that is long enough.".encode(),
        "# Café\n\nText that is long enough.".encode("cp1252"),
    ],
    ids=["bom", "utf-16", "crlf", "cr", "cp1252"],
)
def test_encodings_and_line_ends_make_no_difference(content: bytes) -> None:
    (chunk,) = read(content)
    assert (chunk.metadata.page_title, chunk.text) == ("Café", "Text that is long enough.")


@given(st.binary(max_size=400))
def test_any_bytes_are_read_or_refused_with_a_reason(content: bytes) -> None:
    try:
        chunks = read(content)
    except IngestionError:
        is_marked = content[:2] in {b"\xff\xfe", b"\xfe\xff"}
        assert b"\x00" in content or is_marked or content.startswith(tuple(DISGUISED))
    else:
        assert all(chunk.text.strip() for chunk in chunks)


# Front matter and course fields


@pytest.mark.parametrize(
    ("text", "fields", "body", "noticed"),
    [
        ("---\na: 1\n---\nbody", {"a": 1}, "body", False),
        ("---\n---\nbody", {}, "body", False),
        ("body", {}, "body", False),
        ("---\na: 1\nbody", {}, "---\na: 1\nbody", False),
        ("---\na paragraph\n---\nbody", {}, "---\na paragraph\n---\nbody", False),
        ("---\na: [1\n---\nbody", {}, "body", True),
        ("---\na: &x [1]\nb: *x\n---\nbody", {}, "body", True),
        ("---\ntitle: Tips *and* more\n---\nbody", {"title": "Tips *and* more"}, "body", False),
        ("---\nd: 2026-13-45\n---\nbody", {}, "body", True),
    ],
)
def test_front_matter_is_read_or_left_out_with_a_notice(
    text: str, fields: dict[str, Any], body: str, noticed: bool
) -> None:
    found, rest, notice = split_front_matter(text)
    assert (dict(found), rest, bool(notice)) == (fields, body, noticed)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("module-1/chapter-2/03-lesson.md", ("module-1", 2, 3)),
        ("module-1-ros2/chapter-12-arms/00-overview.md", ("module-1-ros2", 12, 0)),
        ("course/Module 2/Chapter 4/7_pour.md", ("Module 2", 4, 7)),
        ("module-1/chapter-2/04-pouring/README.md", ("module-1", 2, 4)),
        ("module-1/chapter-2/README.md", ("module-1", 2, 0)),
        ("module-1/README.md", ("module-1", None, None)),
        ("chapter-3/intro.md", (None, 3, None)),
        ("guide/03-install.md", (None, None, None)),
        ("module-1/chapter-99/01-a.md", ("module-1", None, 1)),
        ("module-1/chapter-2/16-a.md", ("module-1", 2, None)),
    ],
)
def test_a_course_place_is_read_from_the_path(path: str, place: tuple[Any, ...]) -> None:
    found = course_place(path, {})
    assert (found.module, found.chapter, found.lesson) == place
    assert (found.claim is not None) == all(part is not None for part in place)
    in_course = any(part is not None for part in place)
    assert (found.proficiency_level, found.layer) == (("A2", "L1") if in_course else (None, None))
    out_of_range = "99" in path or "16" in path
    assert bool(found.notices) == out_of_range


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"module": "M", "chapter": 20, "lesson": 15}, ("M", 20, 15)),
        ({"chapter": 0, "lesson": 0}, ("module-1", 0, 0)),
        ({"chapter": "2"}, ("module-1", None, 3)),
        ({"chapter": True}, ("module-1", None, 3)),
        ({"chapter": 21}, ("module-1", None, 3)),
        ({"lesson": -1}, ("module-1", 2, None)),
        ({"lesson": 1.5}, ("module-1", 2, None)),
        ({"module": 7}, (None, 2, 3)),
        ({"module": ["a"]}, (None, 2, 3)),
    ],
)
def test_front_matter_goes_before_the_path_and_odd_values_leave_a_notice(
    fields: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    found = course_place("module-1/chapter-2/03-lesson.md", fields)
    assert (found.module, found.chapter, found.lesson) == expected
    assert bool(found.notices) == (None in expected)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("hardware_tier", 4, 4),
        ("hardware_tier", 0, None),
        ("hardware_tier", "2", None),
        ("proficiency_level", "b1", "B1"),
        ("proficiency_level", "A2-B1", None),
        ("layer", "L4", "L4"),
        ("layer", 2, None),
        ("released_at", datetime(2026, 1, 2, 3), datetime(2026, 1, 2, 3, tzinfo=UTC)),
        ("released_at", datetime(2026, 1, 2).date(), datetime(2026, 1, 2, tzinfo=UTC)),
        ("released_at", "2026-01-02T03:00:00+01:00", datetime(2026, 1, 2, 2, tzinfo=UTC)),
        ("released_at", "soon", None),
    ],
)
def test_other_fields_are_read_with_their_types(name: str, value: Any, expected: Any) -> None:
    found = course_place("page.md", {name: value})
    assert getattr(found, name) == expected
    assert bool(found.notices) == (expected is None)


# Links


@pytest.mark.parametrize(
    ("site", "file", "fields", "path"),
    [
        (Site.PLAIN, "guide/01-start.md", {}, "guide/01-start"),
        (Site.PLAIN, "guide/README.md", {}, "guide"),
        (Site.PLAIN, "index.md", {}, ""),
        (Site.GITHUB, "guide/README.md", {}, "guide/README.md"),
        (Site.GITHUB, "a b/c#d.md", {}, "a%20b/c%23d.md"),
        (Site.MKDOCS, "guide/start.md", {}, "guide/start/"),
        (Site.MKDOCS, "guide/index.md", {}, "guide/"),
        (Site.MKDOCS, "README.md", {}, ""),
        (Site.MDBOOK, "ch01-02-hello.md", {}, "ch01-02-hello.html"),
        (Site.MDBOOK, "guide/README.md", {}, "guide/index.html"),
        (Site.DOCUSAURUS, "01-guide/02-start.md", {}, "guide/start"),
        (Site.DOCUSAURUS, "guide/2021-11-release.md", {}, "guide/2021-11-release"),
        (Site.DOCUSAURUS, "guide/7.0-notes.md", {}, "guide/7.0-notes"),
        (Site.DOCUSAURUS, "guide/02-start.md", {"id": "begin"}, "guide/begin"),
        (Site.DOCUSAURUS, "guide/02-start.md", {"slug": "/first"}, "first"),
        (Site.DOCUSAURUS, "guide/02-start.md", {"slug": "first"}, "guide/first"),
        (Site.DOCUSAURUS, "guide/guide.md", {}, "guide"),
        (Site.DOCUSAURUS, "03-guide/index.mdx", {}, "guide"),
    ],
)
def test_a_page_has_the_address_that_its_site_gives_it(
    site: Site, file: str, fields: dict[str, Any], path: str
) -> None:
    url = page_url(file, fields, base_url="https://docs.example/base/", site=site)
    assert url == f"https://docs.example/base/{path}"


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ("https://own.example/x", "https://own.example/x"),
        ("javascript:alert(1)", None),
        ("https://own.example/a b", None),
        ("/relative", None),
        (7, None),
    ],
)
def test_front_matter_names_the_address_if_people_may_click_it(
    own: object, expected: str | None
) -> None:
    assert page_url("a.md", {"url": own}, base_url="", site=Site.PLAIN) == expected


@pytest.mark.parametrize(
    ("site", "titles", "anchors"),
    [
        (Site.GITHUB, ["What's new?", "A & B", "snake_case", "Übung 1"],
         ["whats-new", "a--b", "snake_case", "übung-1"]),
        (Site.MKDOCS, ["What's new?", "A & B", "snake_case", "Übung 1"],
         ["whats-new", "a-b", "snake_case", "ubung-1"]),
        (Site.MDBOOK, ["What's new?", "A & B", "`Vec<T>` and *more*"],
         ["whats-new", "a--b", "vect-and-more"]),
        (Site.GITHUB, ["Same", "Same", "Same-1", "Same"], ["same", "same-1", "same-1-1", "same-2"]),
        (Site.MKDOCS, ["Same", "Same", "Same"], ["same", "same_1", "same_2"]),
        (Site.DOCUSAURUS, ["Title {#own}", "Title"], ["own", "title"]),
        (Site.MKDOCS, ["Title { #own }"], ["own"]),
    ],
)  # fmt: skip
def test_anchors_are_made_as_each_site_makes_them(
    site: Site, titles: list[str], anchors: list[str]
) -> None:
    headings = headings_of([(2, title) for title in titles], site)
    assert [heading.anchor for heading in headings] == anchors


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("The **bold** and *thin* `code_here`", "The bold and thin code_here"),
        ("[A link](https://x.example) and ![pic](p.png)", "A link and pic"),
        ("snake_case_name stays", "snake_case_name stays"),
        (r"1\. Not a list", "1. Not a list"),
        ("A <span>tag</span>", "A tag"),
        ("a < b and c > d", "a < b and c > d"),
        ("`Vec<T>`", "Vec<T>"),
    ],
)
def test_headings_are_read_without_their_markup(markdown: str, text: str) -> None:
    assert plain(markdown) == text


# Sources


def test_only_documents_are_found_and_each_once(tmp_path: Path) -> None:
    read_in = ["a.md", "b/c.mdx", "b/d.txt"]
    passed_over = ["e.png", ".git/f.md", ".hidden.md", "node_modules/g.md", "style.css"]
    write_files(tmp_path, dict.fromkeys([*read_in, *passed_over, "h.odt"], "x"))
    found = find_files([str(tmp_path), str(tmp_path / "b"), str(tmp_path / "a.md")])
    assert [file.source_file for file in found.files] == ["a.md", "b/c.mdx", "b/d.txt"]
    assert [failure.source_file for failure in found.failures] == ["h.odt"]


def test_pages_without_an_extension_are_read_and_other_files_only_where_they_are_named(
    tmp_path: Path,
) -> None:
    pages = ["README", "docs/NOTES", "faq"]
    others = ["id_rsa", "docs/RoomPlan", "Makefile", "LICENSE"]
    write_files(tmp_path, dict.fromkeys([*pages, *others], "# Words\n\nSome words of a page."))
    found = find_files([str(tmp_path)])
    assert [file.source_file for file in found.files] == sorted(pages)
    (notice,) = found.notices
    assert "2 files without an extension (docs/RoomPlan, id_rsa)" in notice
    named = find_files([str(tmp_path / "docs/RoomPlan")])
    assert [file.source_file for file in named.files] == ["RoomPlan"]
    assert not named.notices
    (chunk,) = read("# Words\n\nSome words of a page.", file="docs/RoomPlan")
    assert chunk.metadata.page_title == "Words"


def test_many_files_without_an_extension_are_counted_and_some_named(tmp_path: Path) -> None:
    write_files(tmp_path, {f"Page{n}": "words" for n in range(5)})
    (notice,) = find_files([str(tmp_path)]).notices
    assert "5 files without an extension (Page0, Page1, Page2, …)" in notice


def test_a_file_above_the_bound_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "huge.md").open("wb") as huge:
        huge.truncate(1024 * 1024 * 1024)
    (failure,) = find_files([str(tmp_path)]).failures
    assert "larger than 10 MB" in failure.reason
