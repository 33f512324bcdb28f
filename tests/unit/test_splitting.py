"""A long text comes out in parts that each stand alone, and nothing of it is lost or said twice."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adapters.chat_writing import ZERO_WIDTH_SPACE, ChatWriter
from adapters.discord.answering.markdown import WRITER as DISCORD
from adapters.discord.answering.markdown import DiscordWriter
from adapters.graphemes import safe_cut
from adapters.slack.answering.markdown import MARKDOWN as SLACK
from adapters.slack.answering.markdown import MRKDWN
from adapters.splitting import split_blocks
from rag_core.text.reading import read_markdown
from rag_core.text.tree import (
    Block,
    Blocks,
    Code,
    Emphasis,
    Fence,
    Heading,
    Inlines,
    Item,
    ItemList,
    LineBreak,
    Paragraph,
    Quote,
    Table,
    Text,
)

PIECES = st.one_of(
    st.text(max_size=40),
    st.text(alphabet="`~ \n", max_size=12),
    st.text(alphabet="-+*#>.)=~|:_0 \n", max_size=20),
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
            "7. seventh\n",
            "> quoted\n",
            "| a | b |\n|---|---|\n",
            "| one | two |\n",
            "a|b\n-|-|-\n",
            "0 0|000\n-----|\n",
            "a [link with words](https://docs.example/page#part) in text. ",
            "**strong words with `code` and *more* of them** ",
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
LOST_CELLS = ("0 0 0 0 0 0 0000|000\n-----|\n00000000000000000 " * 40).strip()
WRITERS = {"discord": DISCORD, "slack": SLACK, "mrkdwn": MRKDWN}


def parts_of(text: str, limit: int, writer: ChatWriter = DISCORD) -> list[str]:
    return list(split_blocks(writer, read_markdown(text), limit))


@given(text=MARKDOWN, limit=st.sampled_from([300, 500, 2_000]), name=st.sampled_from([*WRITERS]))
@example(text=LOST_CELLS, limit=500, name="discord")
@example(text=LOST_CELLS, limit=500, name="slack")
@example(text="x" * 50 + " ```python " + "y" * 500, limit=300, name="slack")
@example(text="``` " * 160, limit=300, name="mrkdwn")
@example(text=" " * 12 + "b" + "\u0301" * 1_400, limit=300, name="discord")
@example(text="```\n" + "`" * 900 + "x\n```", limit=300, name="slack")
@example(text="~~~" + "i" * 900 + "\ncode\n~~~\nafter", limit=300, name="discord")
@example(text="word - word # word\n" * 80, limit=300, name="slack")
@example(text="a | b | c\n---|---\n" * 60, limit=300, name="slack")
@example(text="**" + "word `a * b` " * 60 + "**", limit=300, name="discord")
def test_any_text_keeps_its_promises(text: str, limit: int, name: str) -> None:
    writer = WRITERS[name]
    parts = parts_of(text, limit, writer)
    assert all(part.strip() and len(part) <= limit for part in parts)
    whole = writer.write(read_markdown(text))
    assert holds_in_order(signs_of("".join(parts)), signs_of(whole))
    if len(whole) <= limit:
        assert parts == ([whole] if whole.strip() else [])


@given(text=MARKDOWN, limit=st.sampled_from([400, 2_000]))
@example(text=LOST_CELLS, limit=400)
@example(text="x\na | b | c\n---|---\n" * 60, limit=400)
@example(text="word - word # word 1. word === ~~~ word\n" * 60, limit=400)
@example(text="~~word ~ word ~~ " * 60, limit=400)
@example(text=">||0\n-|-", limit=400)
@example(text="- a\n\n  b " + "word " * 300 + "\n- c\n\n7. d\n8. e", limit=400)
def test_a_part_is_read_as_what_it_was(text: str, limit: int) -> None:
    """Slack reads its parts as Markdown: no piece of a paragraph may become a list or a table."""
    blocks = read_markdown(text)
    again = [read_markdown(part) for part in parts_of(text, limit, SLACK)]
    assert {kind for part in again for kind in kinds_in(part)} <= {
        *kinds_in(read_markdown(SLACK.write(blocks))), Paragraph, Fence,
    }  # fmt: skip
    known = [words for block in blocks for words in cells_of(block)]
    for part in again:
        for block in part:
            for words in cells_of(block):
                assert any(words in cell for cell in known)


@pytest.mark.parametrize("name", WRITERS)
def test_a_text_that_fits_is_one_part_as_it_is(name: str) -> None:
    text = "# Title\n\nSome words.\n\n```py\nx = 1\n```\n\n- a\n- b"
    assert parts_of(text, 2_000, WRITERS[name]) == [WRITERS[name].write(read_markdown(text))]


@pytest.mark.parametrize("text", ["", " ", "\n\n\t\n", "\u2003" * 300])
def test_a_text_that_shows_nothing_has_no_parts(text: str) -> None:
    assert parts_of(text, 300) == []


@pytest.mark.parametrize("marker", ["```", "~~~", "`````"])
@pytest.mark.parametrize("name", ["discord", "slack"])
def test_code_longer_than_a_part_goes_on_in_its_language(marker: str, name: str) -> None:
    code = "\n".join(f"    value_{number} = {number}" for number in range(60))
    parts = parts_of(f"{marker}python\n{code}\n{marker}", 300, WRITERS[name])
    assert len(parts) > 3
    assert all(part.startswith("```python\n") and part.endswith("\n```") for part in parts)
    assert "\n".join(part.removeprefix("```python\n")[:-4] for part in parts) == code


def test_what_stands_behind_a_fence_and_is_no_language_is_shown_once() -> None:
    text = "```python title=main\n" + "run me\n" * 60 + "```"
    for writer in (DISCORD, MRKDWN):
        assert "".join(parts_of(text, 300, writer)).count("python title=main") == 1
    text = "```python\n" + "run me\n" * 60 + "```"
    assert "".join(parts_of(text, 300, MRKDWN)).count("python") == 1


def test_a_line_of_code_longer_than_a_part_is_cut_within() -> None:
    line = "word" * 200
    parts = parts_of(f"```\n{line}\nlast\n```", 300)
    assert "".join(part[4:-4] for part in parts).replace("\n", "") == f"{line}last"


def test_code_that_fits_is_moved_rather_than_cut() -> None:
    fence = "```sh\n" + "run me\n" * 22 + "```"
    assert parts_of("words " * 25 + "\n\n" + fence, 300)[-1] == fence


def test_code_that_no_part_holds_begins_below_the_words_that_lead_to_it() -> None:
    parts = parts_of("Like this:\n\n```sh\n" + "run me\n" * 100 + "```", 300)
    assert parts[0].startswith("Like this:\n\n```sh\nrun me\n")


def test_a_table_that_must_be_cut_repeats_its_head() -> None:
    head = "| Setting | Default |\n|---|---|"
    rows = [f"| SETTING_{number} | {number} |" for number in range(60)]
    parts = parts_of("\n".join([head, *rows]), 300, SLACK)
    assert len(parts) > 3
    assert all(part.startswith(head + "\n") for part in parts)
    assert [row for part in parts for row in part.split("\n")[2:]] == rows


@pytest.mark.parametrize("name", WRITERS)
def test_a_row_that_no_part_holds_is_cut_in_order(name: str) -> None:
    cells = " ".join(f"w{number}" for number in range(200))
    text = f"| a | b |\n|---|---|\n| 1 | 2 |\n| {cells} | after |\n| 3 | 4 |"
    shown = re.findall(r"w\d+|after|\b[1-4]\b", " ".join(parts_of(text, 300, WRITERS[name])))
    assert shown == ["1", "2", *cells.split(), "after", "3", "4"]


@pytest.mark.parametrize("name", ["discord", "slack"])
def test_a_list_goes_on_counting(name: str) -> None:
    items = [f"{number}. step {number} has some words to say" for number in range(3, 43)]
    parts = parts_of("\n".join(items), 300, WRITERS[name])
    assert len(parts) > 3
    assert [line for part in parts for line in part.split("\n")] == items


def test_what_is_left_of_an_item_stands_before_the_next_item() -> None:
    long = " ".join(f"w{number}" for number in range(150))
    parts = parts_of(f"1. first\n2. {long}\n3. third", 300, SLACK)
    assert parts[0].startswith("1. first\n2. w0 ")
    assert parts[-1].endswith("w149\n\n3. third")
    assert re.findall(r"w\d+", " ".join(parts)) == long.split()


def test_items_stay_whole() -> None:
    items = [f"- item {number} has some words to say\n  and a second line" for number in range(40)]
    parts = parts_of("\n".join(items), 300)
    assert all(part.startswith("- item") for part in parts)
    assert all(part.endswith("a second line") for part in parts)


def test_code_within_a_line_stays_whole() -> None:
    assert all(part.count("`") % 2 == 0 for part in parts_of("words and `a b c` " * 60, 300))
    assert "".join(parts_of("words and `a b c` " * 60, 300)).count("`a b c`") == 60


def test_emphasis_is_closed_and_opened_again() -> None:
    parts = parts_of("**" + "word " * 150 + "end**", 300)
    assert len(parts) > 2
    assert all(part.startswith("**word") and part.endswith("**") for part in parts)


def test_a_heading_is_not_left_behind() -> None:
    paragraph = "word " * 50
    parts = parts_of(f"{paragraph}\n\n## Next\n\n{paragraph}", 300)
    assert parts[1].startswith("## Next\n\nword")
    long = parts_of(f"{paragraph}\n\n## Next\n\n{paragraph * 3}", 300)
    assert long[1].startswith("## Next\n\nword")


@pytest.mark.parametrize("character", ["👩‍👩‍👧‍👦", "🇩🇪", "👍🏽", "e\u0301\u0323", "क्षि", "한", "❤️"])
def test_one_long_word_is_cut_between_its_characters(character: str) -> None:
    whole = DISCORD.write(read_markdown(character * 300))
    (shown,) = {whole[place : place + len(whole) // 300] for place in (0, len(whole) // 300)}
    parts = parts_of(character * 300, 300)
    assert "".join(parts) == whole
    assert all(len(part) % len(shown) == 0 for part in parts)


def test_a_character_longer_than_a_part_is_cut_somewhere() -> None:
    assert safe_cut("a" + "\u0301" * 50, 0, 20) == 20


def test_sentences_are_kept_together_where_possible() -> None:
    text = "This is the first sentence of several. " * 20
    assert all(part.endswith("several.") for part in parts_of(text, 300))


def test_little_is_written_of_a_long_text_for_each_part() -> None:
    class Counting(DiscordWriter):
        written = 0

        def write(self, blocks: Blocks) -> str:
            shown = super().write(blocks)
            self.written += len(shown)
            return shown

    for text in ("word " * 20_000, "- item\n" * 14_000, "```\n" + "code\n" * 20_000 + "```"):
        writer = Counting()
        assert len(parts_of(text, 2_000, writer)) > 40
        assert writer.written < 60 * len(text)


def signs_of(text: str) -> str:
    """What must not be lost: everything but white space and the marks of Markdown."""
    return re.sub(rf"[\s{ZERO_WIDTH_SPACE}*#+\-•~`_\\'.)=:|>]", "", text)


def holds_in_order(whole: str, part: str) -> bool:
    characters = iter(whole)
    return all(character in characters for character in part)


def kinds_in(blocks: Blocks) -> Iterator[type[Block]]:
    for block in blocks:
        yield type(block)
        match block:
            case ItemList():
                yield from kinds_in(block.items)
            case Item() | Quote():
                yield from kinds_in(block.blocks)


def cells_of(block: Block) -> Iterator[str]:
    match block:
        case Table():
            yield from (signs_of("".join(texts_of(cell))) for row in block.rows for cell in row)
        case ItemList():
            yield from (words for item in block.items for words in cells_of(item))
        case Item() | Quote():
            yield from (words for inner in block.blocks for words in cells_of(inner))


def texts_of(children: Inlines) -> Iterator[str]:
    for child in children:
        match child:
            case Text() | Code():
                yield child.text
            case Emphasis():
                yield from texts_of(child.children)
            case LineBreak():
                yield " "


def test_the_reader_of_cells_sees_them() -> None:
    (table,) = read_markdown("| a | *b* |\n|---|---|")
    assert list(cells_of(table)) == ["a", "b"]
    assert list(kinds_in(read_markdown("# a"))) == [Heading]
