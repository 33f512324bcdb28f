"""The judge of a whole day is judged: a good day passes, and each defect is seen and named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.faults.havoc import Outage
from tests.faults.judgement import Run, judgement
from tests.faults.paper_day import (
    ENDED,
    OWN_SECONDS,
    PaperYard,
    a_good_day,
    later,
)
from tests.peers.slack_api import Call
from tests.peers.slack_socket import Envelope


def paper(run: Run) -> PaperYard:
    assert isinstance(run.place, PaperYard)
    return run.place


def memory_grows(run: Run) -> None:
    run.lives[0].end = {"memory_mb": 230.0, "files": 40.0}


def the_loop_stalls(run: Run) -> None:
    run.lives[0].knocks = [0.001] * 9_999 + [0.3]


def the_loop_is_slow(run: Run) -> None:
    run.lives[0].knocks = [0.06] * 10


def nobody_knocks(run: Run) -> None:
    run.lives[0].knocks = []


def the_disk_is_not_timed(run: Run) -> None:
    run.lives[0].disk = []


def it_ends_badly(run: Run) -> None:
    run.endings = [(None, 20.0)]


def it_comes_back_late(run: Run) -> None:
    run.back_after.append(6.0)


def something_is_left(run: Run) -> None:
    run.everything_ended = False


def slack_hears_late(run: Run) -> None:
    run.place.slack.deliveries.envelopes["e1"].acked_at = ENDED + 1.0


def slack_shows_late(run: Run) -> None:
    shown = run.place.slack.api.calls[0]
    run.place.slack.api.calls[0] = Call(shown.method, shown.arguments, ENDED + 1.0, None)


def discord_shows_late(run: Run) -> None:
    paper(run).database_rows[1]["closed_at"] = later(1.0)


def the_web_answers_late(run: Run) -> None:
    run.crowd.visitors.visits[0].answered_at = ENDED + 1.0


def an_answer_misses_its_deadline(run: Run) -> None:
    paper(run).database_rows[0]["settled_at"] = later(80.0)


def an_apology(run: Run) -> None:
    paper(run).database_rows[0]["outcome"] = "error"


def a_visitor_is_sent_away(run: Run) -> None:
    run.crowd.visitors.visits[0].document = None


def an_answer_without_a_source(run: Run) -> None:
    paper(run).without_source = 1


def a_change_is_not_heard(run: Run) -> None:
    run.crowd.asked[0].changed_to = "And in winter?"


def a_press_is_not_heard(run: Run) -> None:
    run.crowd.presses.append(Envelope("e2", "interactive", {}))


def slack_is_asked_too_early(run: Run) -> None:
    run.place.slack.early.append(0.1)


def discord_refuses(run: Run) -> None:
    assert run.place.discord is not None
    run.place.discord.refusals.append("POST /channels/1/messages: 50035")


def an_answer_is_lost(run: Run) -> None:
    paper(run).on_paper.posted.pop()


def an_answer_stands_there_twice(run: Run) -> None:
    paper(run).on_paper.posted.append(paper(run).on_paper.posted[0])


def an_answer_is_in_another_thread(run: Run) -> None:
    posted = paper(run).on_paper.posted
    posted[0] = replace(posted[0], place=("slack", "C9", "9.1"))


DEFECTS: dict[Callable[[Run], None], str] = {
    memory_grows: "memory grew",
    the_loop_stalls: "a lag over 250 ms",
    the_loop_is_slow: "lag p99.9",
    nobody_knocks: "nobody knocked",
    the_disk_is_not_timed: "the disk was not timed",
    it_ends_badly: "ended with None",
    it_comes_back_late: "a start took",
    something_is_left: "not everything ended",
    slack_hears_late: "accepted p99",
    slack_shows_late: "own p50 is not under 50 ms: slack",
    discord_shows_late: "own p50 is not under 50 ms: discord",
    the_web_answers_late: "own p50 is not under 50 ms: web",
    an_answer_misses_its_deadline: "told after the deadline",
    an_apology: "apologies in calm weather",
    a_visitor_is_sent_away: "visitors were sent away",
    an_answer_without_a_source: "1 uncited",
    a_change_is_not_heard: "1 changes were not heard",
    a_press_is_not_heard: "1 presses were not heard",
    slack_is_asked_too_early: "Retry-After",
    discord_refuses: "Discord refused",
    an_answer_is_lost: "1 lost",
    an_answer_stands_there_twice: "1 doubled",
    an_answer_is_in_another_thread: "1 crossed",
}


def test_a_good_day_passes(tmp_path: Path) -> None:
    outcome = judgement(a_good_day(tmp_path))
    assert outcome.misses == []
    assert outcome.figures["own_slack"]["answers"] == 1
    assert outcome.figures["own_discord"]["answers"] == 1
    assert outcome.figures["own_web"]["answers"] == 1


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.__name__)
def test_a_defect_is_seen_and_named(defect: Callable[[Run], None], tmp_path: Path) -> None:
    run = a_good_day(tmp_path)
    defect(run)
    assert any(DEFECTS[defect] in miss for miss in judgement(run).misses)


@pytest.mark.parametrize("defect", [slack_hears_late, slack_shows_late, an_apology])
def test_what_an_outage_touches_is_nobodys_fault(
    defect: Callable[[Run], None], tmp_path: Path
) -> None:
    run = a_good_day(tmp_path)
    run.havoc.outages.append(Outage(ENDED, ENDED + 1.0))
    defect(run)
    assert not any(DEFECTS[defect] in miss for miss in judgement(run).misses)


def test_a_life_that_reads_a_book_may_grow_by_its_index(tmp_path: Path) -> None:
    run = a_good_day(tmp_path)
    memory_grows(run)
    run.lives[0].reads = True
    assert judgement(run).misses == []


@pytest.mark.parametrize(("other", "counts"), [("7.1", False), ("1.1", True)])
def test_what_slack_lets_a_channel_wait_after_another_thread_is_not_ours(
    other: str, counts: bool, tmp_path: Path
) -> None:
    run = a_good_day(tmp_path)
    slack_shows_late(run)
    posted = {"channel": "C1", "thread_ts": other}
    run.place.slack.api.calls.append(Call("chat.postMessage", posted, ENDED + OWN_SECONDS, None))
    missed = any(DEFECTS[slack_shows_late] in miss for miss in judgement(run).misses)
    assert missed is counts
