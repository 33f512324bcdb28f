"""The bounds of the desk."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What is admitted; 0: no bound."""

    waiting: int = 0
    """Questions that are neither delivered nor given up."""
    waiting_notices: int = 100
    """How many refusals may wait beyond that bound, so that their askers are told."""
    user_hour: int = 0
    channel_day: int = 0
    tenant_tokens_day: int = 0
    grace_seconds: float = 0.0
    """How long a further question of a thread waits for an earlier one that is heard late."""


UNBOUNDED = Bounds()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskLimits:
    """How much is done at once, how long, and how often it is tried."""

    parallel: int = 32
    """Questions in work at once."""
    kept_for_others: float = 1 / 8
    """The share of them that one platform alone cannot have: while it does not answer its calls,
    the questions of the others are answered."""
    answer_seconds: float = 60.0
    lease_margin: timedelta = timedelta(seconds=60)
    """Added to the answer's own time: a claim outlives its work, and little else."""
    look_every_seconds: float = 1.0
    """How often to look for questions that no bell announced: expired claims, other hosts'."""
    answer_attempts: int = 5
    """A question whose worker died this often is answered with an apology instead."""
    suspect_after: int = 2
    """A question whose worker died this often is answered with few other such ones beside it, and
    after one more death with none, so that one which ends the process does not use up the attempts
    of those that do not."""
    suspect_pause_seconds: float = 1.0
    suspect_calm_seconds: float = 5.0
    """How long a process must have lived before it begins such a question; for each further death
    it is so much longer. A storm of kills then uses up no attempts, and others come first."""
    delivery_pauses: tuple[float, ...] = (1, 2, 5, 10, 20, 30, 60, 120, 300)
    """Seconds between visits to a platform that does not answer; the last one repeats."""
    delivery_attempts: int = 300
    full_disk_seconds: float = 2.0
    """How often to look for space when a finished answer finds none."""
    still_working_seconds: float = 15.0
    """When an asker who waits for an answer hears that it is being worked on."""
    queue_seconds: float = 120.0
    """How long a question may wait for a worker before its asker is told."""
    queue_look_seconds: float = 5.0
    deadline_margin: float = 5.0
    """What an answer may take beyond its own time before it is given up from outside."""

    @property
    def of_one_platform(self) -> int:
        """Questions of one platform in work at once."""
        return self.parallel - math.floor(self.parallel * self.kept_for_others)

    @property
    def lease(self) -> timedelta:
        return timedelta(seconds=self.answer_seconds) + self.lease_margin

    def pause_after(self, attempt: int, asked: float | None) -> timedelta:
        """How long to leave a platform alone after this visit (from 1); it may ask for longer."""
        position = min(max(attempt, 1), len(self.delivery_pauses)) - 1
        return timedelta(seconds=max(self.delivery_pauses[position], asked or 0.0))
