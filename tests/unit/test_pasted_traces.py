"""Of a pasted trace what is looked up is the error that it ends with, and what was said to it."""

from __future__ import annotations

import pytest

from rag_core.agent.paste import without_paste

PYTHON = (
    "Traceback (most recent call last):\n"
    '  File "main.py", line 3, in <module>\n    start()\n'
    "RuntimeError: the tray is locked"
)
RUST = (
    "error[E0382]: borrow of moved value: `tray`\n --> src/main.rs:5:15\n  |\n"
    "2 |     let tray = bake();\n  |         -- move occurs here"
)


def test_the_line_that_names_the_error_is_what_is_left() -> None:
    assert without_paste(PYTHON) == "RuntimeError: the tray is locked"
    assert without_paste(RUST) == "error[E0382]: borrow of moved value: `tray`"


def test_what_somebody_says_to_it_stays() -> None:
    asked = without_paste(f"Why does this happen when I start?\n{PYTHON}")
    assert asked == "Why does this happen when I start? RuntimeError: the tray is locked"


@pytest.mark.parametrize(
    "message",
    ["How do I bake bread?", "Two lines,\nand no error.", "What does `ValueError: tray` mean?",
     "First I open the oven.\n  Then I close it.\nWhat next?"],
)  # fmt: skip
def test_a_message_without_a_trace_stays_as_it_is(message: str) -> None:
    assert without_paste(message) == message
