"""The one judge of every run: lost, doubled, out of order, in the wrong place."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from tests.faults.record import Place, Posted, Record, Stored
from tests.faults.row import Figures

KEY_LENGTH = 18
"""How much of a part's key names its question."""
KINDS = ("lost", "doubled", "stray", "disordered", "crossed")
NAMED = 5


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that must not be."""

    kind: str
    what: str


def findings(record: Record) -> list[Finding]:
    """Everything that is wrong with a run; nothing where it is as promised."""
    return [
        *lost(record),
        *doubled(record),
        *strays(record),
        *disordered(record),
        *crossed(record),
    ]


def figures(record: Record) -> Figures:
    """How many of each kind, and the first of them in words."""
    found = findings(record)
    counted = Counter(each.kind for each in found)
    return {
        "sent": sum(sent.asks for sent in record.sent),
        "posted": len(record.posted),
        **{kind: counted[kind] for kind in KINDS},
        "found": [each.what for each in found[:NAMED]],
    }


def lost(record: Record) -> Iterator[Finding]:
    """Questions that were not written down, not ended, or whose answer is not there."""
    stored = {each.message_id: each for each in record.stored}
    shown = Counter(key_of(posted) for posted in record.posted)
    for sent in record.sent:
        if not sent.asks or sent.withdrawn:
            continue
        known = stored.get(sent.message_id)
        if known is None:
            yield Finding(kind="lost", what=f"{sent.message_id} was never accepted")
        elif not known.ended:
            yield Finding(kind="lost", what=f"{sent.message_id} was never ended")
        elif not known.answers:
            yield Finding(kind="lost", what=f"{sent.message_id} has no answer")
        elif shown[known.question_id[:KEY_LENGTH]] < max(1, known.parts):
            yield Finding(kind="lost", what=f"{sent.message_id}: parts were not posted")


def doubled(record: Record) -> Iterator[Finding]:
    """A part that stands there twice, a message that is two questions, two answers to one."""
    for key, times in Counter(posted.key for posted in record.posted).items():
        if times > 1:
            yield Finding(kind="doubled", what=f"part {key} stands there {times} times")
    for message, times in Counter(
        (each.place[:2], each.message_id) for each in record.stored
    ).items():
        if times > 1:
            yield Finding(kind="doubled", what=f"{message} is {times} questions")
    for each in record.stored:
        if each.answers > 1:
            yield Finding(kind="doubled", what=f"{each.message_id} has {each.answers} answers")


def strays(record: Record) -> Iterator[Finding]:
    """What was posted or stored without anybody having asked for it."""
    known = {each.question_id[:KEY_LENGTH] for each in record.stored}
    asked = {sent.message_id for sent in record.sent if sent.asks}
    withdrawn = {sent.message_id for sent in record.sent if sent.withdrawn}
    for posted in record.posted:
        if key_of(posted) not in known:
            what = f"part {posted.key} in {posted.place} answers nothing"
            yield Finding(kind="stray", what=what)
    shown = {key_of(posted) for posted in record.posted}
    for each in record.stored:
        if each.message_id not in asked:
            yield Finding(kind="stray", what=f"{each.message_id} was no question")
        if each.message_id in withdrawn and each.question_id[:KEY_LENGTH] in shown:
            yield Finding(kind="stray", what=f"{each.message_id} was taken back")


def disordered(record: Record) -> Iterator[Finding]:
    """Answers of a thread in another order than its questions, or parts of one answer."""
    order = {sent.message_id: number for number, sent in enumerate(record.sent)}
    stored = {each.question_id[:KEY_LENGTH]: each for each in record.stored}
    shown: dict[Place, list[tuple[int, str]]] = defaultdict(list)
    for posted in record.posted:
        known = stored.get(key_of(posted))
        if known is not None and known.message_id in order:
            shown[known.place].append((order[known.message_id], posted.key))
    for place, seen in shown.items():
        if seen != sorted(seen):
            yield Finding(kind="disordered", what=f"answers in {place}")


def crossed(record: Record) -> Iterator[Finding]:
    """An answer in another thread than its question, or words of one thread in another."""
    stored = {each.question_id[:KEY_LENGTH]: each for each in record.stored}
    for posted in record.posted:
        known = stored.get(key_of(posted))
        if known is not None and known.place != posted.place:
            yield Finding(kind="crossed", what=f"{known.message_id} answered in {posted.place}")
    homes = {sent.canary: sent.place for sent in record.sent}
    for each in record.stored:
        yield from foreign_words(each, homes)
    for canaries in record.prompts:
        if len({homes[one] for one in canaries if one in homes}) > 1:
            yield Finding(kind="crossed", what=f"a prompt speaks of {sorted(set(canaries))}")


def foreign_words(each: Stored, homes: dict[str, Place]) -> Iterator[Finding]:
    for canary in (each.canary, *each.said):
        if homes.get(canary, each.place) != each.place:
            yield Finding(kind="crossed", what=f"{each.message_id} speaks of {canary}")


def key_of(posted: Posted) -> str:
    return posted.key[:KEY_LENGTH]
