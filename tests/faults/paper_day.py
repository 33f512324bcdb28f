"""A day that never was: what a run leaves behind, written down by hand, for the judge to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from tests.faults.answering_model import AnsweringModel
from tests.faults.crowd import Asked, Crowd
from tests.faults.havoc import Havoc
from tests.faults.judgement import ASKED, Life, Run
from tests.faults.record import Posted, Record, Sent, Stored
from tests.faults.visitors import CHANNEL, Visit, Visitors
from tests.faults.yard import Yard
from tests.peers.discord import OTHERS, DiscordPeer
from tests.peers.discord_limits import Buckets
from tests.peers.slack import SlackPeer
from tests.peers.slack_api import Call
from tests.peers.slack_socket import Envelope

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
OWN_SECONDS = 0.03
ENDED = 100.0
"""When each of the questions was asked, by the clock of the stand-ins."""


@dataclass
class PaperYard(Yard):
    """A yard in which no program has run."""

    database_rows: list[dict[str, Any]] = field(default_factory=list)
    without_source: int = 0
    on_paper: Record = field(default_factory=Record)

    def rows(self, query: str) -> Sequence[Mapping[str, Any]]:
        return self.database_rows if query == ASKED else [{"n": self.without_source}]

    def record(self) -> Record:
        return self.on_paper


def a_yard(folder: Path) -> PaperYard:
    """With stand-ins that nobody can reach."""
    return PaperYard(
        folder,
        SlackPeer(),
        AnsweringModel(),
        Random(1),
        discord=DiscordPeer(identify_gap=0.0, buckets=Buckets(default=OTHERS, special={})),
    )


def a_crowd(place: PaperYard) -> Crowd:
    """It knows a web door that nobody opens."""
    return Crowd(place, Visitors(place.random, lambda: "http://127.0.0.1:1"), lambda: True)


def a_good_day(folder: Path) -> Run:
    """One question in Slack, one in Discord and one at the web door, each answered at once."""
    place = a_yard(folder)
    crowd = a_crowd(place)
    for number, platform in enumerate(("slack", "discord", "web"), start=1):
        write_down(place, crowd, platform, number)
    run = Run(place, crowd, Havoc(place, None))
    calm = {"memory_mb": 200.0, "files": 40.0}
    waits = [0.001] * 10
    run.lives = [Life("to the end", 180.0, warm=calm, end=calm, knocks=waits, disk=waits)]
    run.endings, run.back_after, run.everything_ended = [(0, 2.0)], [3.0], True
    return run


def write_down(place: PaperYard, crowd: Crowd, platform: str, number: int) -> None:
    """What is left of a question and its answer."""
    name = str(number) * 32
    home = CHANNEL if platform == "web" else f"C{number}"
    sent = Sent(message_id=f"{number}.1", place=(platform, home, f"{number}.1"), canary=name)
    place.on_paper.stored.append(
        Stored(
            question_id=name,
            message_id=sent.message_id,
            place=sent.place,
            canary=name,
            ended=True,
            parts=1,
            answers=1,
        )
    )
    place.database_rows.append(
        {
            "id": name,
            "platform": platform,
            "message_id": sent.message_id,
            "revision": 0,
            "body": "How many a day?",
            "accepted_at": NOON.isoformat(),
            "settled_at": later(OWN_SECONDS),
            "closed_at": later(OWN_SECONDS),
            "outcome": "completed",
            "answer_id": f"answer-{number}",
        }
    )
    if platform == "web":
        crowd.visitors.visits.append(
            Visit(
                sent,
                sent.place[2],
                asked_at=ENDED,
                answered_at=ENDED + OWN_SECONDS,
                document={"answer_id": f"answer-{number}"},
            )
        )
        return
    place.on_paper.sent.append(sent)
    place.on_paper.posted.append(Posted(key=f"{name[:18]}000000", place=sent.place))
    crowd.asked.append(Asked(sent, ENDED))
    if platform == "slack":
        show_in_slack(place, sent)


def show_in_slack(place: PaperYard, sent: Sent) -> None:
    envelope = Envelope("e1", "events_api", {"event": {"type": "app_mention"}}, sent_at=[ENDED])
    envelope.acked_at = ENDED + OWN_SECONDS
    place.slack.deliveries.envelopes["e1"] = envelope
    posted = {
        "channel": sent.place[1],
        "thread_ts": sent.message_id,
        "metadata": {"event_type": "footnote"},
    }
    place.slack.api.calls.append(Call("chat.postMessage", posted, ENDED + OWN_SECONDS, None))


def later(seconds: float) -> str:
    return (NOON + timedelta(seconds=seconds)).isoformat()
