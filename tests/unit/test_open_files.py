"""The limit of open files is raised at the start, and named where it is low."""

from __future__ import annotations

import subprocess
import sys
from resource import RLIM_INFINITY

import pytest

from bot.examination.machine import FEW_FILES, open_files

SCRIPT = """
import resource
from adapters.web.connections import most_connections
from bot.open_files import raise_open_file_limit
resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))
raise_open_file_limit()
print(*resource.getrlimit(resource.RLIMIT_NOFILE), most_connections())
"""


def after_start(*, soft: int, hard: int) -> list[int]:
    """Both limits and the number of connections, of a process that began with these limits."""
    command = [sys.executable, "-c", SCRIPT.format(soft=soft, hard=hard)]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return [int(each) for each in ended.stdout.split()]


def test_the_limit_is_raised_as_far_as_the_system_allows() -> None:
    assert after_start(soft=256, hard=1_024) == [1_024, 1_024, 768]
    assert after_start(soft=1_024, hard=1_024) == [1_024, 1_024, 768]


@pytest.mark.parametrize("hard", [128, 512])
def test_half_of_few_files_is_left_to_everything_else(hard: int) -> None:
    assert after_start(soft=hard, hard=hard)[2] == hard // 2


def test_a_low_limit_is_a_warning_and_says_what_to_do() -> None:
    found = open_files(256, FEW_FILES - 1)
    assert found.is_warning
    assert "LimitNOFILE" in found.advice
    assert "4,095" in found.detail


@pytest.mark.parametrize("allowed", [FEW_FILES, 2**20, RLIM_INFINITY])
def test_a_limit_that_can_be_raised_is_none(allowed: int) -> None:
    found = open_files(256, allowed)
    assert found.in_place
    assert not found.is_warning
