"""Which gap each question belongs to, so that a gap keeps its name while it grows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from uuid import UUID, uuid4

from rag_core.insight.gap import GapState, Member, Placed
from rag_core.insight.grouping import Worded, closeness, grouped


def arranged(fresh: Sequence[Placed], known: Sequence[Member]) -> tuple[list[Placed], list[UUID]]:
    """Every question with its group, and the groups that are new.

    Groups that somebody has judged stay together; the others are put together anew, so that the
    order in which questions came in decides nothing."""
    every = [*fresh, *(member.placed for member in known)]
    asked = [Worded(vector=question.vector, terms=question.terms) for question in every]
    judged = judged_groups(known, first=len(fresh))
    groups = grouped(asked, judged=list(judged.values()))
    names = Names(known, judged=judged.keys(), first=len(fresh))
    placed: list[Placed] = []
    for group in sorted(groups, key=len, reverse=True):
        gap_id = names.of(group)
        near = closeness([asked[place] for place in group])
        placed += [
            replace(every[place], gap_id=gap_id, closeness=close)
            for place, close in zip(group, near, strict=True)
        ]
    return placed, names.new


def judged_groups(known: Sequence[Member], *, first: int) -> dict[UUID, list[int]]:
    """The questions of the gaps that somebody has planned or answered, as places."""
    judged: defaultdict[UUID, list[int]] = defaultdict(list)
    for place, member in enumerate(known, start=first):
        if member.state is not GapState.OPEN:
            judged[member.gap_id].append(place)
    return judged


class Names:
    """Hands a group the name of the gap that most of its questions come from."""

    def __init__(self, known: Sequence[Member], *, judged: Collection[UUID], first: int) -> None:
        self._known = known
        self._judged = judged
        self._first = first
        self._taken: set[UUID] = set()
        self.new: list[UUID] = []

    def of(self, group: Sequence[int]) -> UUID:
        """A judged gap's name before any other's; a new one where all are taken."""
        before = Counter(
            self._known[place - self._first].gap_id for place in group if place >= self._first
        )
        for gap_id, _ in sorted(
            before.items(), key=lambda each: (each[0] not in self._judged, -each[1])
        ):
            # A judged gap's name is its own: its questions stand together in one group.
            if gap_id not in self._taken:
                self._taken.add(gap_id)
                return gap_id
        made = uuid4()
        self.new.append(made)
        return made
