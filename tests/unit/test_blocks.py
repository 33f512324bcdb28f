"""Headings and tables: told by their marks, at a cost that grows with their length alone."""

from __future__ import annotations

from collections.abc import Callable
from time import thread_time

import pytest

from rag_core.ingestion.blocks import TABLE_RULE, Kind, blocks_of

SHORT, LONG = 20_000, 160_000
MOST = 4 * LONG / SHORT
"""Eight times the text is eight times the work; were each gap gone over again, sixty-four times."""


@pytest.mark.parametrize(
    ("line", "level", "title"),
    [
        ("# Gears", 1, "Gears"),
        ("   ### Gears and  belts ###  ", 3, "Gears and  belts"),
        ("## C#", 2, "C#"),
        ("## C #", 2, "C"),
        ("#", 1, ""),
        ("## ##", 2, ""),
        ("#\tGears\t#", 1, "Gears"),
    ],
)
def test_a_heading_is_its_words_without_the_marks_around_them(
    line: str, level: int, title: str
) -> None:
    (block,) = blocks_of(line)
    assert (block.kind, block.level, block.text) == (Kind.HEADING, level, title)


@pytest.mark.parametrize("line", ["#Gears", "####### Gears", "    # Gears", "word # Gears"])
def test_what_only_looks_like_a_heading_is_text(line: str) -> None:
    assert blocks_of(line)[0].kind is not Kind.HEADING


@pytest.mark.parametrize("rule", ["|---|---|", "---|---", " | :-: | --: | ", ":---"])
def test_a_rule_of_a_table_is_known(rule: str) -> None:
    assert TABLE_RULE.fullmatch(rule)


@pytest.mark.parametrize("rule", ["|---|x|", "", "| |", "a", "--|--|--x", "| - - |"])
def test_another_line_is_no_rule(rule: str) -> None:
    assert not TABLE_RULE.fullmatch(rule)


@pytest.mark.parametrize(
    "page",
    [
        lambda size: f"# {' ' * size}x",
        lambda size: f"# a{' ' * size}b",
        lambda size: f"# {' #' * (size // 2)}x",
        lambda size: f"a | b\n{' ' * size}-x",
        lambda size: f"a | b\n-{' ' * size}x",
        lambda size: f"a | b\n{'|-' * (size // 2)}x",
    ],
    ids=["before", "between", "marks", "table", "table end", "columns"],
)
def test_white_space_is_gone_over_once(page: Callable[[int], str]) -> None:
    assert cost(page(LONG)) < MOST * max(cost(page(SHORT)), 1e-4)


def cost(text: str) -> float:
    """The least of some tries: what else the machine does only ever adds."""
    return min(once(text) for _ in range(3))


def once(text: str) -> float:
    began = thread_time()
    blocks_of(text)
    return thread_time() - began
