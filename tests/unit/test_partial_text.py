"""What may be shown of a reply while it is still being written."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rag_core.agent.checks.guard import guarded
from rag_core.agent.checks.partial import PartialText, is_simple

FIRST = frozenset({1, 2, 3})


def screens(text: str, *, size: int = 3, ranks: frozenset[int] = FIRST) -> list[str]:
    """Every state of the screen while the text comes in pieces."""
    partial = PartialText(ranks=ranks)
    shown, states = "", []
    for at in range(0, len(text), size):
        partial.add(text[at : at + size])
        delta, restart = partial.take()
        shown = delta if restart else shown + delta
        states.append(shown)
    return states


def test_plain_words_come_at_once() -> None:
    assert screens("Ten files a day are allowed", size=9)[1] == "Ten files a day"


def test_a_marker_is_held_until_it_is_whole() -> None:
    for state in screens("Ten a day [2] and more. Also [1] this one. ", size=1):
        assert not re.search(r"\[\d*$", state)


def test_markers_are_numbered_as_they_appear_and_forged_ones_are_gone() -> None:
    assert screens("A [3] and [9] and [1] and [3] end. ")[-1] == "A [1] and and [2] and [1] end."


def test_code_appears_line_by_line_as_it_is() -> None:
    text = "Run:\n```sh\ncurl https://a.example [1]\n```\nDone now "
    assert screens(text)[-1] == "Run:\n```sh\ncurl https://a.example [1]\n```\nDone now"


@pytest.mark.parametrize("name", ["sh", 'python title="a.py"', "c++", " text", "pip install x"])
def test_what_names_the_language_of_code_is_shown_as_it_is(name: str) -> None:
    assert screens(f"```{name}\none\n```\nDone now ")[-1] == f"```{name}\none\n```\nDone now"


def test_a_new_reply_replaces_what_was_shown() -> None:
    partial = PartialText(ranks=FIRST)
    partial.add("One two three ")
    partial.take()
    again = PartialText(ranks=FIRST, shown_before=partial.has_shown)
    assert again.take() == ("", False)
    again.add("Four five ")
    assert again.take() == ("Four five", True)


@given(st.text(alphabet="ab1A [](),.;:?'\"%+=- é", max_size=30))
def test_what_needs_no_closer_look_is_what_the_guard_leaves_alone(text: str) -> None:
    if is_simple(text):
        assert guarded(text) == text.strip()


PIECES = st.lists(
    st.sampled_from(["[", "]", "(", ")", "<", ">", "!", "@everyone", "`", "\n", " ", "[1]", "[77]",
                     "https://e.vil/", "a", "word", "<@1>", "](", "* "]), max_size=20,
).map("".join)  # fmt: skip


@given(PIECES, st.integers(1, 5))
@example("< [77]! ", 1)
@example("@ [77]everyone ", 1)
@example("https: [77]//e.vil/ ", 1)
@example("```](\n", 3)
@example("```[77]\n", 3)
@example("```<@1>\n", 3)
@example("```https://e.vil/\n", 3)
@example("```@everyone\n", 1)
@example("> ```[[77]77]\n", 1)
def test_nothing_shown_is_live_or_forged(text: str, size: int) -> None:
    for state in screens(text + " end", size=size):
        plain = re.sub(r"(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)", "code", state)
        assert "https://" not in plain
        assert "](" not in plain
        assert "@everyone" not in plain
        assert "[77]" not in plain
        assert not re.search(r"<[@#!]", plain)
