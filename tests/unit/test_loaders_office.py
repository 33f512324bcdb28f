"""PDF, Word and PowerPoint files become sections that say where they stand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_core.errors import IngestionError
from rag_core.ingestion.loaders import Loader
from tests.office_builders import docx, grid, pdf, pptx, words


@pytest.fixture(scope="module")
def loader() -> Iterator[Loader]:
    with Loader() as opened:
        yield opened


def test_every_page_of_a_pdf_is_a_section_that_links_lead_to(loader: Loader) -> None:
    made = pdf([["Ten questions an hour."], ["Tokens live for an hour."]], title="Limits of use")
    loaded = loader.load("limits.pdf", made)
    assert loaded.fields == {"title": "Limits of use"}
    assert loaded.text == (
        "###### page 1 {#page=1}\n\nTen questions an hour.\n\n"
        "###### page 2 {#page=2}\n\nTokens live for an hour."
    )


@pytest.mark.parametrize("outline", [(), ("Hours", "2. Tokens")])
def test_pages_stand_below_the_headings_of_a_pdf(loader: Loader, outline: tuple[str, ...]) -> None:
    made = pdf(
        [["# Hours", "Ten questions an hour,", "never more."], ["# 2. Tokens", "One hour."]],
        title="Limits of use",
        outline=outline,
    )
    assert loader.load("limits.pdf", made).text == (
        "## Hours {#page=1}\n\n###### page 1 {#page=1}\n\n"
        "Ten questions an hour, never more.\n\n"
        "## 2. Tokens {#page=2}\n\n###### page 2 {#page=2}\n\nOne hour."
    )


def test_the_largest_words_of_the_first_page_are_the_title(loader: Loader) -> None:
    loaded = loader.load("a.pdf", pdf([["# Limits of use", "Ten questions an hour."]]))
    both = loader.load("a.pdf", pdf([["# Limits", "# Hours", "Ten questions an hour of a day."]]))
    assert both.fields == {"title": "Limits"}
    assert both.text.startswith("## Hours {#page=1}")
    assert loaded.fields == {"title": "Limits of use"}
    assert loaded.text == "###### page 1 {#page=1}\n\nTen questions an hour."


def test_paragraphs_and_lists_are_told_apart(loader: Loader) -> None:
    lines = [
        "A long line that reaches as far to the right as any other line does,",
        "and goes on.",
        "A new one after a short line, as long as the first of all these lines.",
        "",
        "One below a gap:",
        "• first thing",
        "• second thing",
        "1. third thing",
    ]
    text = loader.load("a.pdf", pdf([lines])).text.split("\n\n")
    assert text[1:] == [
        f"{lines[0]} {lines[1]}", lines[2], lines[4],
        "- first thing", "- second thing", "1\\. third thing",
    ]  # fmt: skip


def test_rows_with_wide_gaps_are_a_table(loader: Loader) -> None:
    wide = " " * 12
    lines = [
        "The plan of the term, as it was decided by all who teach in it this year:",
        *(wide.join(row) for row in (("Week", "Topic", "Room"), ("1", "Atoms", "A|12"))),
        wide.join(("2", "Bonds and more", "B7")),
        "1." + wide + "This is an item of a list, and",
        "2." + wide + "this is another one below it.",
        "alone" + wide + "side by side",
    ]
    text = loader.load("a.pdf", pdf([lines])).text.split("\n\n")
    assert text[2] == (
        "| Week | Topic | Room |\n| --- | --- | --- |\n| 1 | Atoms | A\\|12 |"
        "\n| 2 | Bonds and more | B7 |"
    )
    assert not [block for number, block in enumerate(text) if "|" in block and number != 2]


def test_what_stands_at_the_edge_of_every_page_is_left_out(loader: Loader) -> None:
    pages = [
        ["The Handbook", f"Chapter 3, page {number}", "", f"Words of page {number} stand here.",
         "", "More words.", "And a last one.", "", str(number)]
        for number in range(1, 6)
    ]  # fmt: skip
    text = loader.load("a.pdf", pdf(pages)).text
    assert "Words of page 3 stand here." in text
    assert "Handbook" not in text
    assert "Chapter" not in text
    assert [line for line in text.splitlines() if line.isdigit()] == []


def test_a_sentence_stays_whole_over_the_end_of_a_page(loader: Loader) -> None:
    made = pdf([["Ten questions an hour are"], ["enough for all. More is too much."]])
    assert loader.load("a.pdf", made).text == (
        "###### page 1 {#page=1}\n\nTen questions an hour are enough for all.\n\n"
        "###### page 2 {#page=2}\n\nMore is too much."
    )


@pytest.mark.parametrize(
    "title", ["", "(anonymous)", "untitled", "Microsoft Word - a.doc", "a.pdf"]
)
def test_a_title_that_a_program_filled_in_is_none(loader: Loader, title: str) -> None:
    escaped = title.replace("(", r"\(").replace(")", r"\)")
    assert loader.load("a.pdf", pdf([["Some words."]], title=escaped)).fields == {}


def test_a_pdf_without_words_says_so(loader: Loader) -> None:
    loaded = loader.load("scan.pdf", pdf([[], []]))
    assert loaded.text == ""
    assert "only pictures" in loaded.notices[0]


def test_a_word_document_keeps_its_headings_lists_and_tables(loader: Loader) -> None:
    made = docx(
        words("Handbook", "Title")
        + words("Limits", "heading 1")
        + words("Ten questions an hour & no more.")
        + words("Plans", "heading 2")
        + grid([["Plan", "Price"], ["Team", "10 | 12"]])
    )
    loaded = loader.load("handbook.docx", made)
    assert loaded.fields == {"title": "Handbook"}
    assert loaded.text == (
        "# Handbook\n\n## Limits\n\nTen questions an hour & no more.\n\n### Plans\n\n"
        "| Plan | Price |\n| --- | --- |\n| Team | 10 \\| 12 |"
    )


def test_every_slide_is_a_section_with_its_notes(loader: Loader) -> None:
    made = pptx([("Robots", ["Move", "Sense"]), ("Prices", ["Ten"])], notes="Welcome all.")
    loaded = loader.load("talk.pptx", made)
    assert loaded.fields == {"title": "Robots"}
    assert loaded.text == (
        "## Robots, slide 1 {#slide=1}\n\n- Move\n- Sense\n\nNotes: Welcome all.\n\n"
        "## Prices, slide 2 {#slide=2}\n\nTen"
    )


@pytest.mark.parametrize("name", ["a.pdf", "a.docx", "a.pptx"])
@pytest.mark.parametrize("content", [b"", b"plain words", b"%PDF-1.4\n", b"PK\x03\x04" + bytes(99)])
def test_a_damaged_file_is_refused_and_the_next_one_is_read(
    loader: Loader, name: str, content: bytes
) -> None:
    with pytest.raises(IngestionError, match="damaged") as refused:
        loader.load(name, content)
    assert refused.value.source == name
    assert "Ten a day" in loader.load("b.pdf", pdf([["Ten a day."]])).text
