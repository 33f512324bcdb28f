"""Long Markdown comes out in parts that each stand alone, and nothing of it is lost."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adapters.graphemes import safe_cut
from adapters.splitting import Part, split_parts, split_text

PIECES = st.one_of(
    st.text(max_size=40),
    st.text(alphabet="`~ \n", max_size=12),
    st.text(alphabet="é文👩‍👩‍👧🇩🇪🏽\u0301 \u200d", max_size=30),
    st.sampled_from(
        [
            "```python\n",
            "```\n",
            "~~~\n",
            "````md\n",
            "\n\n",
            "# Heading\n",
            "- an item of a list that is a little longer than the others\n",
            "  - nested\n",
            "| a | b |\n|---|---|\n",
            "| one | two |\n",
            "a [link with words](https://docs.example/page#part) in text. ",
            "`code with spaces` ",
            "&lt;&amp;",
            "    indented ``` line\n",
            "word " * 40,
            "x" * 300,
            "`" * 130,
            "~" * 130,
            "a\\" * 70,
            " " * 120,
            "\u0301" * 150,
        ]
    ),
)
MARKDOWN = st.lists(st.tuples(PIECES, st.integers(1, 30)), max_size=40).map(
    lambda pieces: "".join(text * times for text, times in pieces)[:100_000]
)


@given(text=MARKDOWN, limit=st.sampled_from([100, 137, 500, 2_000]))
@example(text="x" * 50 + " ```python " + "y" * 100, limit=100)
@example(text="``` " * 60, limit=100)
@example(text=" " * 500 + "b", limit=100)
@example(text=" " * 12 + "b" + "\u0301" * 400, limit=100)
@example(text="```\n" + "`" * 300 + "x\n```", limit=100)
@example(text="~~~" + "i" * 300 + "\ncode\n~~~\nafter", limit=100)
@example(text="```\n" + "code\n" * 30 + "`````````", limit=100)
def test_any_text_keeps_its_promises(text: str, limit: int) -> None:
    parts = split_parts(text, limit)
    rendered = [part.of(text) for part in parts]
    assert all(0 < len(part) <= limit for part in rendered)
    assert all(part.strip() for part in rendered)
    assert [fences_left_open(part) for part in rendered] == [0] * len(rendered)
    assert not what_is_left_out(text, parts).strip()
    assert rendered == split_text(text, limit)


@given(text=st.text(max_size=3_000), limit=st.integers(100, 400))
def test_text_of_all_kinds_keeps_its_promises(text: str, limit: int) -> None:
    parts = split_parts(text, limit)
    assert all(part.of(text).strip() and part.size <= limit for part in parts)
    assert not what_is_left_out(text, parts).strip()


def test_a_text_that_fits_is_one_part_as_it_is() -> None:
    text = "# Title\n\nSome words.\n\n```py\nx = 1\n```\n\n- a\n- b"
    assert split_text(text, 2_000) == [text]


@pytest.mark.parametrize("text", ["", " ", "\n\n\t\n", "\u2003" * 300])
def test_a_text_that_shows_nothing_has_no_parts(text: str) -> None:
    assert split_text(text, 100) == []


def test_a_limit_that_can_hold_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 100"):
        split_text("text", 99)


@pytest.mark.parametrize("marker", ["```", "~~~", "`````"])
def test_a_fence_longer_than_the_limit_is_closed_and_reopened_with_its_language(
    marker: str,
) -> None:
    code = "\n".join(f"    value_{number} = {number}" for number in range(40))
    parts = split_text(f"{marker}python title\n{code}\n{marker}", 200)
    assert len(parts) > 3
    assert all(part.startswith(f"{marker}python title\n") for part in parts)
    assert all(part.endswith(f"\n{marker}") for part in parts)
    assert "\n".join(part.split("\n", 1)[1].rsplit("\n", 1)[0] for part in parts) == code


def test_a_fence_that_fits_is_moved_rather_than_cut() -> None:
    fence = "```sh\n" + "run me\n" * 12 + "```"
    assert split_text("words " * 25 + "\n\n" + fence, 200)[-1] == fence


def test_a_fence_left_open_is_closed() -> None:
    assert split_text("See:\n```js\nf()", 100) == ["See:\n```js\nf()\n```"]


def test_a_table_that_must_be_cut_repeats_its_header() -> None:
    header = "| Setting | Default |\n| --- | --- |"
    rows = [f"| SETTING_{number} | {number} |" for number in range(30)]
    parts = split_text("\n".join([header, *rows]), 200)
    assert len(parts) > 3
    assert all(part.startswith(header + "\n") for part in parts)
    assert [row for part in parts for row in part.split("\n")[2:]] == rows


def test_list_items_stay_whole() -> None:
    items = [f"- item {number} has some words to say\n  and a second line" for number in range(20)]
    parts = split_text("\n".join(items), 150)
    assert all(part.startswith("- item") for part in parts)
    assert all(part.endswith("a second line") for part in parts)


def test_links_and_code_within_a_line_stay_whole() -> None:
    link = "[the page on limits (all of them)](https://docs.example/a_(b)#limits)"
    text = " ".join([link, "`a b c`"] * 30)
    parts = split_text(text, 160)
    assert sum(part.count(link) for part in parts) == 30
    assert sum(part.count("`a b c`") for part in parts) == 30


def test_a_heading_is_not_left_behind() -> None:
    paragraph = "word " * 30
    parts = split_text(f"{paragraph}\n\n## Next\n\n{paragraph}", 170)
    assert parts[1].startswith("## Next\n\nword")


@pytest.mark.parametrize(
    "character",
    ["👩‍👩‍👧‍👦", "🇩🇪", "👍🏽", "e\u0301\u0323", "क्षि", "한", "❤️", "&amp;", "&#128512;", "\\*"],
)
def test_one_long_word_is_cut_between_its_characters(character: str) -> None:
    parts = split_text(character * 200, 100)
    assert "".join(parts) == character * 200
    assert all(len(part) % len(character) == 0 for part in parts)


def test_a_character_longer_than_a_part_is_cut_somewhere() -> None:
    assert safe_cut("a" + "\u0301" * 50, 0, 20) == 20


def test_sentences_are_kept_together_where_possible() -> None:
    text = "This is the first sentence of several. " * 6
    assert all(part.endswith("several.") for part in split_text(text, 100))


def test_numbered_items_and_rows_do_not_become_fences() -> None:
    text = "1. one\n2. two ``` three\n" * 40
    assert all(not fences_left_open(part) for part in split_text(text, 100))


def what_is_left_out(text: str, parts: list[Part]) -> str:
    """The characters of the text that no part holds; fails where slices overlap."""
    place, left_out = 0, []
    for part in parts:
        assert part.start >= place
        left_out.append(text[place : part.start])
        place = part.end
    return "".join([*left_out, text[place:]])


def fences_left_open(part: str) -> int:
    """Reads a part as CommonMark does, fences only, at any indentation."""
    marker = None
    for line in part.split("\n"):
        bare = line.strip(" \t")
        if marker is None:
            run = re.match(r"`{3,}(?!.*`)|~{3,}", bare, re.DOTALL)
            marker = run[0] if run else None
        elif len(bare) >= len(marker) and set(bare) == {marker[0]}:
            marker = None
    return int(marker is not None)


def test_the_reader_of_fences_sees_an_open_one() -> None:
    assert fences_left_open("a\n```py\ncode") == 1
