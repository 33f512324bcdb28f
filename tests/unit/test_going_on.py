"""After a fault the program goes on with settings that work, and ends where it was told to."""

from __future__ import annotations

import pytest

from bot.settings import Settings
from bot.supervisor import to_go_on_with
from rag_core.errors import StorageError

FAULT = StorageError("There is no space left.")
OLD, NEW = Settings(), Settings(agent_top_k=7)


def test_who_was_told_to_end_ends_with_the_fault() -> None:
    with pytest.raises(StorageError):
        to_go_on_with(FAULT, tried=OLD, told=None, proven=OLD)


@pytest.mark.parametrize("proven", [None, OLD], ids=["at the start", "at work"])
def test_a_fault_without_other_settings_is_not_passed_over(proven: Settings | None) -> None:
    with pytest.raises(StorageError):
        to_go_on_with(FAULT, tried=OLD, told=OLD, proven=proven)


def test_new_settings_that_do_not_work_leave_the_old_ones() -> None:
    assert to_go_on_with(FAULT, tried=NEW, told=NEW, proven=OLD) is OLD


def test_what_the_old_ones_cannot_close_keeps_nobody_from_the_new_ones() -> None:
    assert to_go_on_with(FAULT, tried=OLD, told=NEW, proven=OLD) is NEW
