"""Files made to hang, to explode or to lead elsewhere are refused, and the next one is read."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_core.errors import IngestionError
from rag_core.ingestion.chunking import cut
from rag_core.ingestion.front_matter import split_front_matter
from rag_core.ingestion.headings import Site, headings_of
from rag_core.ingestion.kinds import MEGABYTE
from rag_core.ingestion.loaders import Limits, Loader, load, read_source
from rag_core.ingestion.loaders.decoding import decoded
from rag_core.ingestion.loaders.document import Unreadable
from rag_core.ingestion.sources import SourceFile, find_files
from tests.office_builders import docx, docx_parts, grid, pdf, pptx, relationships, words, zipped

GOOD = pdf([["Ten questions a day."]])


def laughs(markup: str = "") -> str:
    """Entities that unfold to a thousand million words."""
    grown = "".join(f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in zip(
        "abcdefghi", "bcdefghij", strict=True))  # fmt: skip
    return f'<!DOCTYPE x [<!ENTITY a "ha">{grown}]>{markup}'


def bomb_in_part(name: str, markup: str | bytes) -> bytes:
    """A Word document that says that its styles stand in a part of this name."""
    parts = docx_parts(words("Ten"))
    parts["word/_rels/document.xml.rels"] = relationships("styles", name.removeprefix("word/"))
    return zipped(parts | {name: markup})


def bomb_in_deck(markup: str | bytes) -> bytes:
    """A presentation whose theme is this markup, under a name that is no XML's."""
    with zipfile.ZipFile(BytesIO(pptx([("Plans", ["Free"])]))) as deck:
        parts = {name: deck.read(name) for name in deck.namelist()}
    for name in [each for each in parts if each.endswith((".rels", "[Content_Types].xml"))]:
        parts[name] = parts[name].replace(b"theme1.xml", b"theme1.bin")
    del parts["ppt/theme/theme1.xml"]
    return zipped(parts | {"ppt/theme/theme1.bin": markup})


BOMB = laughs("<a>&j;</a>")
OTHER_NAMES = ("styles.bin", "styles", "styles.vml", "styles.XML.png", "media/image1.jpeg")
ENCODED = {
    "UTF-8 with its mark": BOMB.encode("utf-8-sig"),
    "UTF-16 without a mark": BOMB.encode("utf-16-le"),
    "UTF-16, the other way round": BOMB.encode("utf-16-be"),
    "UTF-32": BOMB.encode("utf-32"),
    "UTF-7": b'<?xml version="1.0" encoding="UTF-7"?>' + BOMB.replace("<!", "+ADwAIQ-").encode(),
    "EBCDIC": f'<?xml version="1.0" encoding="cp037"?>{BOMB}'.encode("cp037"),
    "a lot of space": b" " * 200_000 + BOMB.encode(),
}


def pdf_bomb() -> bytes:
    """A page whose stream is small and unpacks to 400 MB."""
    packer = zlib.compressobj()
    packed = b"".join(packer.compress(b" " * MEGABYTE) for _ in range(400)) + packer.flush()
    start = GOOD.index(b"<< /Length", GOOD.index(b"/Contents"))
    head = b"<< /Filter /FlateDecode /Length %d >>\nstream\n" % len(packed)
    return GOOD[:start] + head + packed + b"\n" + GOOD[GOOD.index(b"endstream", start) :]


def zip_bomb() -> bytes:
    return zipped(docx_parts("") | {"word/document.xml": b" " * (64 * MEGABYTE)})


HOSTILE: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "zip bomb": ("a.docx", zip_bomb, "zip bomb"),
    "zip bomb beside the text": (
        "a.docx",
        lambda: docx(words("Ten"), **{"word/media/a.png": b"\0" * (64 * MEGABYTE)}),
        "zip bomb",
    ),
    "very many parts": (
        "a.pptx",
        lambda: zipped({f"ppt/{number}.xml": "" for number in range(10_001)}),
        "zip bomb",
    ),
    "entity bomb": (
        "a.docx", lambda: docx(words("Ten"), declaration=laughs()), "entities",
    ),
    "entity bomb in UTF-16": (
        "a.docx",
        lambda: docx("", **{"word/styles.xml": laughs("<a>&j;</a>").encode("utf-16")}),
        "entities",
    ),
    **{
        f"entity bomb in {name}": (
            "a.docx", partial(bomb_in_part, f"word/{name}", BOMB), "entities",
        )
        for name in OTHER_NAMES
    },
    **{
        f"entity bomb in a part without its ending, in {encoding}": (
            "a.docx", partial(bomb_in_part, "word/styles.dat", markup), "entities",
        )
        for encoding, markup in ENCODED.items()
    },
    **{
        f"entity bomb in a presentation, in {encoding}": (
            "a.pptx", partial(bomb_in_deck, markup), "entities",
        )
        for encoding, markup in ENCODED.items()
    },
    "entity that reads a file": (
        "a.docx",
        lambda: docx(words("x"), declaration='<!DOCTYPE x [<!ENTITY a SYSTEM "/etc/passwd">]>'),
        "entities",
    ),
    "parts that lead out": (
        "a.docx", lambda: docx(words("Ten"), **{"../../evil.xml": "x"}), "leads out",
    ),
    "a part with a whole path": (
        "a.docx", lambda: docx(words("Ten"), **{"/etc/evil.xml": "x"}), "leads out",
    ),
    "another kind of archive": ("a.docx", lambda: zipped({"a.txt": "x"}), "not the document"),
    "a stream that unpacks to 400 MB": ("a.pdf", pdf_bomb, "memory"),
    "pages that hold themselves": (
        "a.pdf", lambda: GOOD.replace(b"/Kids [4 0 R]", b"/Kids [2 0 R]"), "damaged",
    ),
    "tables in tables": (
        "a.docx",
        lambda: docx("<w:tbl><w:tr><w:tc>" * 2_000 + "</w:tc></w:tr></w:tbl>" * 2_000),
        "nested|damaged",
    ),
    "elements in elements": ("a.html", lambda: b"<div>" * 400_000 + b"x", "nested"),
    "more elements than memory": ("a.html", lambda: b"<p>x</p>" * 1_200_000, "memory"),
    "brackets in brackets": ("a.ipynb", lambda: b'{"cells":' + b"[" * 100_000, "nested"),
}  # fmt: skip


@pytest.fixture(scope="module")
def loader() -> Iterator[Loader]:
    with Loader(Limits(memory=384 * MEGABYTE)) as opened:
        yield opened


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_with_a_reason_and_the_next_is_read(
    loader: Loader, name: str
) -> None:
    file, content, reason = HOSTILE[name]
    with pytest.raises(IngestionError, match=reason) as refused:
        loader.load(file, content())
    assert refused.value.source == file
    assert "Ten questions a day." in loader.load("good.pdf", GOOD).text


def test_a_picture_with_a_document_type_is_no_reason_to_refuse_a_document(loader: Loader) -> None:
    picture = '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x.dtd"><svg/>'
    page = "<!DOCTYPE html><p>Twenty</p>"
    parts: dict[str, str] = {"word/media/image1.svg": picture, "word/chunk.htm": page}
    assert loader.load("a.docx", docx(words("Ten a day."), **parts)).text == "Ten a day."
    styles = bomb_in_part("word/media/image1.svg", BOMB)
    with pytest.raises(IngestionError, match="damaged"):  # read as styles, it is empty
        loader.load("a.docx", styles)


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("a.xhtml", (laughs() + "<html><body><p>Ten &j; a day</p></body></html>").encode()),
        ("a.html", b"<html><body>" + b"<p>Ten a day" * 10_000),
        ("a.md", b"---\na: &a [x, x]\nb: [*a, *a]\n---\nTen a day"),
    ],
)
def test_what_cannot_unfold_here_is_read(loader: Loader, file: str, content: bytes) -> None:
    text = loader.load(file, content).text
    assert "Ten" in text
    assert len(text) < 2 * len(content)


WHOLE: dict[str, Callable[[], bytes]] = {
    "a.pdf": lambda: pdf([["# Ten", "questions"], ["a day"]], outline=("Ten",), title="Limits"),
    "a.docx": lambda: docx(words("Ten", "Title") + grid([["a", "b"], ["c", "d"]]) + words("day")),
    "a.pptx": lambda: pptx([("Ten", ["questions", "a day"])], notes="Say it."),
    "a.html": lambda: b"<html><body><main><h1 id=x>Ten</h1><table><tr><td>a<td>b</table><pre>c",
    "a.rst": lambda: b"Ten\n===\n\n.. note:: a `day`_\n\n   - x\n\n.. _day: https://x.example\n",
    "a.ipynb": lambda: b'{"cells": [{"cell_type": "markdown", "source": ["# Ten", "a day"]}]}',
    "a.mdx": lambda: b"import A from 'a'\n\n<A b={1}>\n:::tip[Ten]\n\n| a |\n|---|\n`x` [y][z]\n",
}


@pytest.mark.parametrize("name", WHOLE)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_a_file_with_anything_changed_in_it_is_read_or_refused(
    loader: Loader, name: str, data: st.DataObject
) -> None:
    content = bytearray(WHOLE[name]())
    pieces = st.binary(max_size=6) | st.sampled_from([b"<", b"{", b"`", b"\x00", b"]"])
    for _ in range(data.draw(st.integers(1, 8))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + data.draw(st.integers(0, 12))] = data.draw(pieces)
        content = content or bytearray(b" ")
    try:
        said = loader.load(name, bytes(content)).text
    except IngestionError as refused:
        said = refused.reason
    assert said == said.encode().decode()


def test_a_reader_that_takes_too_long_is_killed() -> None:
    slow = docx(grid([["a"] * 60] * 2_000))
    with Loader(Limits(seconds=0.3)) as loader:
        with pytest.raises(IngestionError, match=r"longer than 0\.3 seconds"):
            loader.load("slow.docx", slow)
        assert loader.load("a.md", b"Ten a day").text == "Ten a day"
    with Loader() as patient:
        assert "Ten" in patient.load("good.pdf", GOOD).text


def test_more_text_than_a_file_may_hold_is_refused() -> None:
    with Loader(Limits(output=MEGABYTE)) as loader:
        with pytest.raises(IngestionError, match="more than 1 MB of text"):
            loader.load("a.html", b"<p>Ten a day. " * 120_000)
        assert "Ten" in loader.load("good.pdf", GOOD).text


def test_a_loader_that_is_left_ends_what_still_reads() -> None:
    slow = docx(grid([["a"] * 60] * 2_000))
    ended: list[str] = []
    loader, others = Loader(), children_of(os.getpid())

    def read() -> None:
        try:
            loader.load("slow.docx", slow)
        except IngestionError as error:
            ended.append(error.reason)

    reader = threading.Thread(target=read)
    with loader:
        reader.start()
        while not (children := children_of(os.getpid()) - others):
            time.sleep(0.01)
    reader.join(timeout=30)
    assert len(ended) == 1
    assert not children & children_of(os.getpid())


def test_a_reader_that_is_killed_from_outside_is_started_again(loader: Loader) -> None:
    assert "Ten" in loader.load("good.pdf", GOOD).text
    for child in children_of(os.getpid()):
        os.kill(child, signal.SIGKILL)
    assert "Ten" in loader.load("good.pdf", GOOD).text


def children_of(parent: int) -> set[int]:
    """The readers that a process has started; its threads come and go meanwhile."""
    found: set[int] = set()
    for task in Path(f"/proc/{parent}/task").iterdir():
        with contextlib.suppress(OSError):
            found |= {int(child) for child in (task / "children").read_text().split()}
    return {child for child in found if "loaders.contained" in command_of(child)}


def command_of(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_text()
    except OSError:
        return ""


def test_the_reader_knows_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with Loader() as loader:
        loader.load("good.pdf", GOOD)
        (child, *_) = children_of(os.getpid())
        assert b"sk-secret" not in Path(f"/proc/{child}/environ").read_bytes()


@pytest.mark.parametrize("name", ["huge.pdf", "huge.docx", "huge.html", "huge.md", "huge.ipynb"])
def test_a_file_of_one_gigabyte_is_not_even_opened(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with path.open("wb") as huge:
        huge.truncate(1024 * MEGABYTE)
    (failure,) = find_files([str(tmp_path)]).failures
    assert "larger than" in failure.reason
    with pytest.raises(IngestionError, match="larger than"):
        read_source(SourceFile(source=str(tmp_path), path=path, source_file=name))


def test_links_that_lead_out_are_refused_whatever_they_lead_to(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    (outside / "secret.pdf").write_bytes(GOOD)
    (outside / "secret.pptx").write_bytes(pptx([("Ten", ["a day"])]))
    (inside / "a.pdf").symlink_to(outside / "secret.pdf")
    (inside / "b.pptx").symlink_to("../outside/secret.pptx")
    (inside / "c").symlink_to(outside)
    (inside / "d.html").symlink_to("/etc/hostname")
    (inside / "good.pdf").write_bytes(GOOD)
    found = find_files([str(inside)])
    assert [file.source_file for file in found.files] == ["good.pdf"]
    assert {f.source_file for f in found.failures} == {"a.pdf", "b.pptx", "c", "d.html"}
    assert all("leads out" in failure.reason for failure in found.failures)


@pytest.mark.parametrize("title", ["*a" * 5_000, "_a " * 5_000, "[" * 9_000, "[a" * 9_000])
def test_a_heading_without_end_is_read_in_its_time(title: str) -> None:
    (heading,) = headings_of([(1, title)], Site.DOCUSAURUS)
    assert len(heading.title) <= 1_000


def test_a_gap_that_nobody_sees_is_closed() -> None:
    assert load("a.md", b"# a" + b" " * 500_000 + b"b").text == "# a b"


@pytest.mark.parametrize(
    ("content", "text", "notice"),
    [
        ("Grüße und mehr".encode("utf-32"), "Grüße und mehr", None),
        ("Grüße".encode("utf-16") + b"x", "Grüße\ufffd", "damaged"),
        ("Grüße\n".encode() + "Köln".encode("latin-1"), "Grüße\nKöln", "some of its lines"),
        ("Grüße\nKöln".encode("latin-1"), "Grüße\nKöln", "it is not UTF-8"),
        (b"\xef\xbb\xbf\xef\xbb\xbf# Title", "# Title", None),
    ],
    ids=["utf-32", "cut off", "mixed", "windows", "two marks"],
)
def test_text_of_any_encoding_is_read_as_well_as_it_can_be(
    content: bytes, text: str, notice: str | None
) -> None:
    found, said = decoded(content)
    assert found == text
    assert (said is None) if notice is None else (notice in (said or ""))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8"])
def test_a_file_with_zeros_in_it_is_no_text(encoding: str) -> None:
    """No database takes them."""
    with pytest.raises(Unreadable, match="not text"):
        decoded("words\x00words".encode(encoding))


@pytest.mark.parametrize(
    "page",
    [
        "|" * 9_000 + "\n" + "|-" * 4_000 + "\n",
        "a line of words\n" * 2_000 + "---\n",
        "---\n" + "a: b\n" * 20_000 + "---\nText.",
    ],
    ids=["a table that is all head", "a rule below a long text", "settings without end"],
)
def test_no_text_is_lost_in_what_looks_like_something_else(page: str) -> None:
    kept = sum(len(passage.text) for passage in cut(load("a.md", page.encode()).text))
    assert kept > 0.9 * len(page)


def test_front_matter_that_is_nested_without_end_is_left_out() -> None:
    fields, text, notice = split_front_matter(f"---\na: {'[' * 60_000}\n---\nText.")
    assert (fields, text) == ({}, "Text.")
    assert notice is not None
