"""A section falls into blocks that are shown whole, and into the units that may answer."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.reading.units import BlockKind, SectionUnits, parsed
from rag_core.text.visible import visible

STEPS = (
    "To start the simulator:\n\n1. Open a terminal.\n2. Run `basil sim`.\n   It takes a minute.\n"
)
TABLE = "The limits:\n\n| Plan | Files |\n|---|---|\n| Free | 10 |\n| Team | 50 |\n"
CODE = "Save this as `basil.yaml`\n\n```yaml\nname: toast\n\nheat: 180\n```\n"


def words(text: str) -> list[str]:
    section = SectionUnits(text)
    return [section.words_of(unit) for unit in section.units]


def kinds(text: str) -> list[BlockKind]:
    return [block.kind for block in SectionUnits(text).blocks]


def test_sentences_items_rows_and_lines_of_code_are_units() -> None:
    assert words("Ask us. See e.g. `a.b()` first. It costs 3.5 euros.") == [
        "Ask us.",
        "See e.g. `a.b()` first.",
        "It costs 3.5 euros.",
    ]
    assert words(STEPS)[1:] == ["Open a terminal.", "Run `basil sim`.\n   It takes a minute."]
    assert words(TABLE)[1:] == ["| Free | 10 |", "| Team | 50 |"]
    assert words(CODE)[1:] == ["name: toast", "heat: 180"]


def test_items_of_a_list_within_a_list_are_units_of_their_own() -> None:
    assert words("- Fruit\n  - apples\n  - pears\n- Bread") == ["Fruit", "apples", "pears", "Bread"]


def test_a_quotation_is_one_block_without_its_marks() -> None:
    assert kinds("> Stand back. It is\n> hot.") == [BlockKind.QUOTE]
    assert words("> Stand back. It is\n> hot.") == ["Stand back.", "It is\nhot."]


@pytest.mark.parametrize(
    ("text", "kind"),
    [(STEPS, BlockKind.LIST), (TABLE, BlockKind.TABLE), (CODE, BlockKind.CODE)],
)
def test_what_a_line_leads_to_stays_with_it(text: str, kind: BlockKind) -> None:
    (block,) = SectionUnits(text).blocks
    assert block.kind is kind
    assert block.start == 0
    assert text[block.body :].lstrip().startswith(("1.", "|", "```"))


def test_a_paragraph_that_says_something_of_its_own_does_not_lead_to_a_list() -> None:
    assert kinds("Basil cooks.\n\n- one\n- two") == [BlockKind.PARAGRAPH, BlockKind.LIST]


def test_a_heading_is_a_block_that_answers_nothing() -> None:
    section = SectionUnits("## Limits\n\nTen a day.")
    assert [(block.kind, len(block.units)) for block in section.blocks] == [
        (BlockKind.HEADING, 0),
        (BlockKind.PARAGRAPH, 1),
    ]


@pytest.mark.parametrize("text", ["", "   \n", "***", "```\n```", "- \n- "])
def test_a_text_without_words_has_no_units(text: str) -> None:
    assert words(text) == []


@given(st.text(alphabet="ab.1 \n-*>|`#:?[]()é中。", max_size=120))
def test_units_stand_in_order_within_their_blocks_whatever_the_text(text: str) -> None:
    text = visible(text)
    blocks, units = parsed(text)
    assert [at for block in blocks for at in block.units] == list(range(len(units)))
    for one, other in pairwise(units):
        assert one.start < one.end <= other.start
    for block in blocks:
        assert all(block.start <= units[at].start for at in block.units)
        assert all(units[at].end <= block.end for at in block.units)
