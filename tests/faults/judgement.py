"""What a day with everything in it must show: each figure of the table that can be told at once."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tests.faults.checker import figures
from tests.faults.crowd import Asked, Crowd
from tests.faults.deliveries import IN_FLIGHT
from tests.faults.havoc import Havoc
from tests.faults.loads import answered_at, ms, refused_in_discord
from tests.faults.record import Sent
from tests.faults.row import Figures, Outcome, judged, share
from tests.faults.troubles import uncited
from tests.faults.visitors import Visit
from tests.faults.yard import Yard
from tests.peers.slack import RETRY_AFTER
from tests.peers.slack_socket import Envelope

ANSWER_SECONDS = 60.0
POST_SECONDS = 1.0
"""Slack takes one message in so long in a channel."""
WARM_SECONDS = 120.0
MARGIN_SECONDS = 10.0
"""What a restart and the way to a worker may add to an answer's deadline."""
ASKED = """
SELECT q.id, q.platform, q.message_id, q.revision, q.body, q.accepted_at, q.settled_at, q.closed_at,
  (SELECT outcome FROM answers a WHERE a.question = q.id) AS outcome,
  (SELECT answer_id FROM answers a WHERE a.question = q.id) AS answer_id
FROM questions q
"""
Row = Mapping[str, Any]


@dataclass
class Life:
    """One process from its first answer to its end."""

    name: str
    warm_after: float
    """Seconds."""
    reads: bool = False
    """Whether a book is read in it: the index that grows then is in its memory, too."""
    warm: Mapping[str, float] = field(default_factory=dict)
    end: Mapping[str, float] = field(default_factory=dict)
    knocks: Sequence[float] = ()
    disk: Sequence[float] = ()
    """What the disk took by itself: no answer's own time is less than that of its commits."""

    @property
    def grown(self) -> dict[str, float]:
        """Nothing where it was never warm."""
        return {name: round(self.end[name] - value, 1) for name, value in self.warm.items()}

    @property
    def figures(self) -> Figures:
        return {
            "life": self.name,
            "memory_mb": self.end["memory_mb"],
            "grown": self.grown,
            "knocks": len(self.knocks),
            "lag_p50_ms": ms(share(list(self.knocks), 0.5)),
            "lag_p999_ms": ms(share(list(self.knocks), 0.999)),
            "lag_max_ms": ms(max(self.knocks, default=0.0)),
            "disk_p99_ms": ms(share(list(self.disk), 0.99)),
            "disk_max_ms": ms(max(self.disk, default=0.0)),
        }


@dataclass
class Run:
    """Everything that is known of the day."""

    place: Yard
    crowd: Crowd
    havoc: Havoc
    lives: list[Life] = field(default_factory=list)
    endings: list[tuple[int | None, float]] = field(default_factory=list)
    back_after: list[float] = field(default_factory=list)
    everything_ended: bool = False


def judgement(run: Run) -> Outcome:
    outcome = Outcome(figures={"lives": [life.figures for life in run.lives]})
    rows = run.place.rows(ASKED)
    outcome.must(run.everything_ended, "not everything ended")
    judge_lives(run, outcome)
    judge_waits(run, rows, outcome)
    judge_answers(run, rows, outcome)
    judge_afterthoughts(run, rows, outcome)
    judge_manners(run, outcome)
    record = run.place.record()
    run.crowd.visitors.put_into(record, [row for row in rows if row["answer_id"]])
    return judged(outcome, figures(record))


def judge_lives(run: Run, outcome: Outcome) -> None:
    """Memory, lag, ends and starts."""
    for life in run.lives:
        # A short life ends before its caches are full.
        tells = life.warm_after >= WARM_SECONDS and not life.reads
        small = life.grown.get("memory_mb", 0.0) < 20
        outcome.must(small or not tells, f"memory grew by 20 MB or more {life.name}")
        outcome.must(bool(life.knocks), f"nobody knocked {life.name}")
        outcome.must(bool(life.disk), f"the disk was not timed {life.name}")
        outcome.must(share(list(life.knocks), 0.999) < 0.05, f"lag p99.9 of 50 ms {life.name}")
        outcome.must(max(life.knocks, default=0) <= 0.25, f"a lag over 250 ms {life.name}")
    for code, seconds in run.endings:
        outcome.must(code == 0, f"ended with {code} after {seconds:.1f} s")
    outcome.must(max(run.back_after) < 5, "a start took 5 s or longer")
    outcome.figures |= {
        "seconds_to_end": [round(seconds, 2) for _, seconds in run.endings],
        "seconds_back": [round(seconds, 2) for seconds in run.back_after],
    }


def judge_waits(run: Run, rows: Sequence[Row], outcome: Outcome) -> None:
    """How quickly a question is taken and answered, where no outage and no trouble touched it."""
    accepted = [
        envelope.acked_at - envelope.sent_at[0]
        for envelope in run.place.slack.envelopes()
        if envelope.acked_at is not None and not in_an_outage(run.havoc, envelope)
    ]
    outcome.figures["accepted_p99_ms"] = ms(share(accepted, 0.99))
    outcome.must(share(accepted, 0.99) < 0.3, "accepted p99 is not under 300 ms")
    for name, own in own_times(run, rows).items():
        outcome.figures[f"own_{name}"] = {
            "answers": len(own),
            "p50_ms": ms(share(own, 0.5)),
            "p99_ms": ms(share(own, 0.99)),
        }
        outcome.must(bool(own), f"nobody's own time is known: {name}")
        outcome.must(share(own, 0.5) < 0.05, f"own p50 is not under 50 ms: {name}")
        outcome.must(share(own, 0.99) < 0.25, f"own p99 is not under 250 ms: {name}")


def in_an_outage(havoc: Havoc, envelope: Envelope) -> bool:
    return not havoc.is_calm_at(envelope.sent_at[0])


def own_times(run: Run, rows: Sequence[Row]) -> dict[str, list[float]]:
    """Without what the model took, and what Slack lets a channel wait after another thread's
    answer; in Discord up to the moment when the answer was known there."""
    troubled, shown = run.havoc.troubled_threads(), answered_at(run.place)
    closed = {row["message_id"]: row for row in rows if row["closed_at"]}
    channels = SlackChannels(run.place)
    times: dict[str, list[float]] = {"slack": [], "discord": [], "web": []}
    for asked in run.crowd.asked:
        sent = asked.sent
        if not untouched(run, asked) or sent.place[2] in troubled:
            continue
        model = run.place.model.seconds_for(sent.canary)
        if sent.place[0] == "slack" and sent.message_id in shown:
            at = shown[sent.message_id]
            times["slack"].append(at - max(asked.at + model, channels.free_for(sent, before=at)))
        elif sent.place[0] == "discord" and sent.message_id in closed:
            times["discord"].append(seconds(closed[sent.message_id], "closed_at") - model)
    times["web"] = [
        visit.answered_at - visit.asked_at - run.place.model.seconds_for(visit.sent.canary)
        for visit in calm_visits(run)
        if visit.answered_at is not None
    ]
    return times


class SlackChannels:
    """When Slack took a message of another thread in the same channel."""

    def __init__(self, place: Yard) -> None:
        self._posts: defaultdict[str, list[tuple[float, str]]] = defaultdict(list)
        for call in place.slack.calls("chat.postMessage"):
            thread = str(call.arguments.get("thread_ts"))
            self._posts[str(call.arguments.get("channel"))].append((call.at, thread))

    def free_for(self, sent: Sent, *, before: float) -> float:
        """From when on Slack took the next one there."""
        _, channel, own = sent.place
        posts = self._posts[channel]
        taken = [at for at, thread in posts if thread != own and at < before]
        return max(taken, default=-math.inf) + POST_SECONDS


def untouched(run: Run, asked: Asked) -> bool:
    model = run.place.model
    return (
        asked.is_alone
        and run.havoc.is_calm_at(asked.at)
        and asked.sent.canary not in model.troubled
        and asked.sent.message_id not in run.crowd.continued
    )


def calm_visits(run: Run) -> list[Visit]:
    return [
        visit
        for visit in run.crowd.visitors.visits
        if run.havoc.is_calm_at(visit.asked_at)
        and visit.sent.canary not in run.place.model.troubled
        and not visit.further
    ]


def seconds(row: Row, until: str) -> float:
    accepted = datetime.fromisoformat(row["accepted_at"])
    return (datetime.fromisoformat(row[until]) - accepted).total_seconds()


def judge_answers(run: Run, rows: Sequence[Row], outcome: Outcome) -> None:
    """Answered or told why by the deadline; in calm weather answered, from the documents."""
    waited = [
        seconds(row, "settled_at") for row in rows if row["settled_at"] and not row["revision"]
    ]
    apologies = {row["message_id"] for row in rows if row["outcome"] == "error"}
    calm = {asked.sent.message_id for asked in run.crowd.asked if untouched(run, asked)}
    sent_away = [visit for visit in calm_visits(run) if not visit.is_answered]
    outcome.figures |= {
        "answered_or_told_after_max": round(max(waited), 1),
        "apologies": len(apologies),
        "apologies_in_calm": len(apologies & calm),
        "sent_away_in_calm": len(sent_away),
        "troubles": run.havoc.made,
    }
    outcome.must(max(waited) < ANSWER_SECONDS + MARGIN_SECONDS, "told after the deadline")
    outcome.must(not apologies & calm, "apologies in calm weather")
    outcome.must(not sent_away, "visitors were sent away in calm weather")
    outcome.must(not uncited(run.place), f"{uncited(run.place)} uncited answers")


def judge_afterthoughts(run: Run, rows: Sequence[Row], outcome: Outcome) -> None:
    """Every change arrived; every press was heard."""
    bodies = {row["message_id"]: row["body"] for row in rows}
    changed = [asked for asked in run.crowd.asked if asked.changed_to and not asked.withdrawn]
    unheard = [a for a in changed if a.changed_to not in bodies.get(a.sent.message_id, "")]
    deaf = [press for press in run.crowd.presses if press.acked_at is None]
    outcome.figures |= {
        "changed": len(changed),
        "withdrawn": sum(asked.withdrawn for asked in run.crowd.asked),
        "pressed": sum(asked.pressed for asked in run.crowd.asked),
    }
    outcome.must(not unheard, f"{len(unheard)} changes were not heard")
    outcome.must(not deaf, f"{len(deaf)} presses were not heard")


def judge_manners(run: Run, outcome: Outcome) -> None:
    """Nothing is asked again before Retry-After has passed; nothing that a platform refuses."""
    discord = run.place.discord
    assert discord is not None
    # A call that was on its way when another one was refused could not know.
    early = sum(by < RETRY_AFTER - IN_FLIGHT for by in run.place.slack.early) + len(discord.early)
    refused = refused_in_discord(discord)
    outcome.figures |= {"asked_again_too_early": early, "refused": refused[:5]}
    outcome.must(not early, "Retry-After was not honoured")
    outcome.must(not refused, f"Discord refused {len(refused)} requests")
