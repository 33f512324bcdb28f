"""Cutting: nothing is lost, nothing is torn that can stay whole, and sizes hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.ingestion.blocks import Block, Kind
from rag_core.ingestion.chunking import (
    LARGEST_BLOCK,
    SLACK,
    TARGET_TOKENS,
    Passage,
    cut,
    cut_plain,
    size_of,
)
from rag_core.ingestion.splitting import split_block

PARAGRAPH = st.lists(
    st.text("abcdefghijklmnop", min_size=1, max_size=9), min_size=3, max_size=120
).map(" ".join)
HEADING = st.builds(
    lambda level, text: f"{'#' * level} {text}",
    st.integers(1, 6),
    st.text("abcdefgh ", min_size=1, max_size=20).filter(str.strip),
)
CODE = st.lists(PARAGRAPH, min_size=1, max_size=6).map(
    lambda lines: "```python\n" + "\n".join(lines) + "\n```"
)
ITEMS = st.lists(PARAGRAPH, min_size=1, max_size=6).map(
    lambda lines: "\n".join(f"- {line}" for line in lines)
)
TABLE = st.lists(PARAGRAPH, min_size=1, max_size=4).map(
    lambda cells: "| a | b |\n|---|---|\n" + "\n".join(f"| {cell} | x |" for cell in cells)
)
PAGE = st.lists(st.one_of(HEADING, PARAGRAPH, CODE, ITEMS, TABLE), max_size=25).map("\n\n".join)


def words_in(passages: list[Passage]) -> list[str]:
    return " ".join(
        f"{' '.join(heading.title for heading in p.path)} {p.text}" for p in passages
    ).split()


@given(PAGE)
def test_every_word_of_a_page_is_in_a_passage_or_its_headings(page: str) -> None:
    passages = cut(page)
    if not passages:
        assert len(page) < 300
        return
    missing = set(page.split()) - set(words_in(passages)) - {"#" * n for n in range(1, 7)}
    assert not missing


@given(PAGE)
def test_text_keeps_its_order(page: str) -> None:
    """Each passage begins further on in the page than the one before."""
    at = 0
    for passage in cut(page):
        first = passage.text.split("\n")[0]
        if first.startswith(("```", "| a", "#")):  # these are made anew
            continue
        at = page.index(first, at)


@given(PAGE)
def test_passages_are_long_enough_to_say_something_and_not_far_too_long(page: str) -> None:
    for passage in cut(page):
        assert len(passage.text.strip()) >= 10
        assert size_of(passage.text) <= TARGET_TOKENS + LARGEST_BLOCK


@given(PAGE)
def test_a_passage_never_begins_or_ends_inside_a_code_block(page: str) -> None:
    for passage in cut(page):
        assert passage.text.count("```") % 2 == 0


@given(st.text(max_size=2_000))
def test_any_text_can_be_cut(text: str) -> None:
    for passage in [*cut(text), *cut_plain(text)]:
        assert passage.text.strip()


@given(st.lists(PARAGRAPH, max_size=40).map("\n\n".join))
def test_plain_text_keeps_every_word(text: str) -> None:
    passages = cut_plain(text)
    if passages:
        assert " ".join(passage.text for passage in passages).split() == text.split()


def test_sections_become_passages_under_their_headings() -> None:
    long = "word " * 80
    page = f"# Title\n\n{long}\n\n## First\n\n{long}\n\n### Deeper\n\n{long}\n\n## Second\n\n{long}"
    assert [[heading.title for heading in passage.path] for passage in cut(page)] == [
        ["Title"],
        ["Title", "First"],
        ["Title", "First", "Deeper"],
        ["Title", "Second"],
    ]


def test_a_heading_with_a_line_below_it_joins_what_follows() -> None:
    long = "word " * 120
    passages = cut(f"# Title\n\nShort welcome.\n\n## Body\n\n{long}")
    assert len(passages) == 1
    assert passages[0].text.startswith("Short welcome.\n\n## Body\n\nword")
    assert passages[0].path[-1].title == "Body"


def test_a_heading_with_nothing_below_it_is_not_lost() -> None:
    long = "word " * 120
    passages = cut(f"## Full\n\n{long}\n\n## Coming soon")
    assert "Coming soon" in passages[-1].text


@pytest.mark.parametrize(
    "block",
    [
        "```python\n" + "value = 1  # a line of code\n" * 50 + "```",
        "~~~\n" + "some output\n\n" * 100 + "~~~",
        "| name | meaning |\n|---|---|\n" + "| a cell | another cell |\n" * 60,
        "- " + "a long item that goes on and on " * 50,
        "1. first\n\n   with a paragraph\n\n   ```\n   " + "code here\n   " * 80 + "```",
    ],
    ids=["code", "tildes", "table", "item", "nested"],
)
def test_what_belongs_together_stays_whole_above_the_target_too(block: str) -> None:
    page = "## Part\n\n" + "before " * 250 + "\n\n" + block + "\n\n" + "after " * 250
    assert any(block.rstrip() in passage.text for passage in cut(page))


def test_code_that_is_far_too_long_is_cut_into_whole_code_blocks() -> None:
    lines = [f"print('line {number} of the listing')" for number in range(900)]
    passages = cut("## Listing\n\n```python\n" + "\n".join(lines) + "\n```")
    assert len(passages) > 3
    assert all(p.text.startswith("```python\n") and p.text.endswith("\n```") for p in passages)
    inner = [line for p in passages for line in p.text.split("\n") if not line.startswith("```")]
    assert inner == lines


def test_a_table_that_is_far_too_long_repeats_its_head() -> None:
    rows = [f"| row {number} | {number * 7} |" for number in range(900)]
    passages = cut("## Figures\n\n| name | value |\n|---|---|\n" + "\n".join(rows))
    assert len(passages) > 3
    assert all(p.text.startswith("| name | value |\n|---|---|\n") for p in passages)
    assert [line for p in passages for line in p.text.split("\n")[2:]] == rows


@given(st.lists(PARAGRAPH, min_size=2, max_size=60), st.data())
def test_a_paragraph_written_anew_changes_two_passages_at_most(
    paragraphs: list[str], data: st.DataObject
) -> None:
    """One word more or less, in a section of any length."""
    place = data.draw(st.integers(0, len(paragraphs) - 1))
    edited = list(paragraphs)
    edited[place] = f"{paragraphs[place].rpartition(' ')[0]} anew and anew"
    for cutting in (cut, cut_plain):
        before, after = (
            {passage.text for passage in cutting("\n\n".join(each))}
            for each in (paragraphs, edited)
        )
        assert len(after - before) <= 2


def test_a_paragraph_that_is_too_long_is_cut_between_sentences() -> None:
    sentence = "This sentence has seven words in it. "
    for passage in cut("## Long\n\n" + sentence * 200):
        assert passage.text.endswith("in it.")
        assert size_of(passage.text) <= TARGET_TOKENS


def test_one_endless_word_is_cut_anywhere() -> None:
    for text in ("x" * 50_000, "字" * 5_000):
        passages = cut(text)
        assert max(size_of(passage.text) for passage in passages) <= TARGET_TOKENS * SLACK
        assert "".join("".join(passage.text.split()) for passage in passages) == text


def test_an_introduction_moves_along_with_what_it_introduces() -> None:
    filler = "word " * 300
    page = f"## Steps\n\n{filler}\n\nRun these commands:\n\n```\nmake env\n{'x = 1 ' * 60}\n```"
    passages = cut(page)
    assert len(passages) == 2
    assert passages[1].text.startswith("Run these commands:\n\n```")


def test_a_page_without_text_has_no_passages() -> None:
    assert cut("") == cut("\n\n \n") == cut("Hi") == cut("# T") == []


def test_an_open_fence_runs_to_the_end() -> None:
    (passage,) = cut("Intro text here.\n\n```\n# not a heading\n\n## neither")
    assert passage.path == ()
    assert "## neither" in passage.text


FAQ = """**How do I reset my password?**
Choose "Forgot password" on the account page.

**Q: Can I hand in late?**

A: Yes, up to 48 hours late.
"""


def sections(passages: list[Passage]) -> dict[str, str]:
    return {p.path[-1].title if p.path else "": p.text for p in passages}


def test_the_questions_of_an_faq_are_its_headings() -> None:
    assert sections(cut(FAQ)) == {
        "How do I reset my password?": 'Choose "Forgot password" on the account page.',
        "Can I hand in late?": "Yes, up to 48 hours late.",
    }
    below = cut(f"# Help\n\n## Exams\n\n{FAQ}\n## Rooms\n\nAll rooms are in house C.")
    assert [p.path[-1].anchor for p in below] == ["exams", "exams", "rooms"]
    assert [len(p.path) for p in below] == [3, 3, 2]


def test_marked_questions_in_plain_text_are_headings_too() -> None:
    text = (
        "Before it please read all of this page, and then ask whoever sits beside you.\n\n"
        "Q: Where is it?\nA: In Hall B at 9:00.\nQ2. May I eat?\nA: Only water."
    )
    assert sections(cut_plain(text)) == {
        "": "Before it please read all of this page, and then ask whoever sits beside you.",
        "Where is it?": "In Hall B at 9:00.",
        "May I eat?": "Only water.",
    }


@pytest.mark.parametrize(
    "page",
    [
        "# Clients\n\nMany programs play your films.\n\n## More of the documentation",
        "# Clients\n\n## More of the documentation\n\n## Players\n\nMany programs play your films.",
        "# Clients\n\n## Players\n\nMany programs play films.\n\n## Official ones\n\n## Others",
    ],
)
def test_a_heading_with_nothing_below_it_is_no_passage(page: str) -> None:
    (passage,) = cut(page)
    titles = " ".join(heading.title for heading in passage.path)
    words = f"{passage.text} {titles}"
    assert all(line.lstrip("# ") in words for line in page.splitlines() if line)
    assert passage.path[0].title == "Clients"


def test_a_page_of_headings_alone_is_one_passage() -> None:
    (passage,) = cut("# Outline of it\n\n## First of all\n\n## Second of all")
    assert "First of all" in passage.text
    assert "Second of all" in passage.text


@pytest.mark.parametrize("label", ["**Note:**", "**How to open a port**"])
def test_a_label_stays_with_the_list_that_it_leads_to(label: str) -> None:
    item = " ".join(["Open the port and wait for it."] * 20)
    text = "# A\n\n## B\n\n"
    for count in range(1, 12):
        page = text + f"{item}\n\n" * count + f"{label}\n\n" + f"- {item}\n" * 6
        (holder,) = [p.text for p in cut(page) if label in p.text]
        assert f"{label}\n\n- Open" in holder


def test_lines_in_bold_divide_a_page_without_headings() -> None:
    page = "# Rules\n\n**Gloves**\n\nWear gloves always.\n\n**Late work**\n\nNone is accepted."
    assert sections(cut(page)) == {
        "Gloves": "Wear gloves always.",
        "Late work": "None is accepted.",
    }


@pytest.mark.parametrize(
    "page",
    [
        "Some words before it.\n\n**Is one question enough?**\n\nNo, one is not.",
        "# A\n\n## B\n\n**Note**\n\nWords of a note.\n\n**Tip**\n\nWords of a tip.",
        "**Never do this.**\n\nWords below it.\n\n**Nor that!**\n\nMore words below.",
        "**Mind** the gap there.\n\nWhat now? Nothing at all.\n\n- **One?** Yes.\n- **Two?** No.",
    ],
)
def test_words_in_bold_are_mostly_words_in_bold(page: str) -> None:
    text = " ".join(f"{p.path[-1].title if p.path else ''} {p.text}" for p in cut(page))
    assert text.count("**") == page.count("**")


@given(st.text("*QA_?: \nab.", max_size=200))
def test_no_word_is_lost_between_titles_and_marks(text: str) -> None:
    for cutting in (cut, cut_plain):
        kept = "".join(words_in(cutting(text)))
        if kept:
            assert sorted(c for c in kept if c in "ab") == sorted(c for c in text if c in "ab")


LINKED = "[the rules of the house](https://docs.example/rules_(old)#a-long-anchor)"
IMAGE = '[![a plan of the house](images/plan.png)](https://docs.example/plan "The plan")'


@pytest.mark.parametrize("kind", [Kind.TEXT, Kind.ITEM])
@pytest.mark.parametrize("link", [LINKED, IMAGE, LINKED.replace("rules of", "rules\n  of")])
@pytest.mark.parametrize("between", [" ", ". ", " and so on and on, as it stands in ", ""])
def test_a_link_is_never_cut_in_two(kind: Kind, link: str, between: str) -> None:
    text = between.join([link] * 60)
    pieces = [piece.text for piece in split_block(Block(kind, text), 40, size_of)]
    whole = " ".join(link.split())
    assert len(pieces) > 1
    assert sum(piece.count(whole) for piece in pieces) == 60
    assert all(piece.count("](") == whole.count("](") * piece.count(whole) for piece in pieces)
