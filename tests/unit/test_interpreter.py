"""What the program sets in the interpreter holds as long as it works, and no longer."""

from __future__ import annotations

import gc
import sys
import weakref

import pytest

from bot.interpreter import TURN_SECONDS, settled_in, short_turns


class Knot:
    """Holds itself: only the collector can free it."""

    def __init__(self) -> None:
        self.own = self


def test_turns_are_short_inside_and_as_before_outside() -> None:
    usual = sys.getswitchinterval()
    with short_turns():
        assert sys.getswitchinterval() == pytest.approx(TURN_SECONDS)
    assert sys.getswitchinterval() == usual > TURN_SECONDS


def test_what_was_there_is_left_alone_and_what_comes_is_cleared_away() -> None:
    before = Knot()
    gone_before = weakref.ref(before)
    with settled_in():
        assert gc.get_freeze_count() > 0
        after = Knot()
        gone_after = weakref.ref(after)
        del before, after
        gc.collect()
        assert gone_before() is not None
        assert gone_after() is None
    assert gc.get_freeze_count() == 0
    gc.collect()
    assert gone_before() is None
