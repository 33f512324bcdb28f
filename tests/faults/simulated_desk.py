"""A desk of a few lines that can be built wrong in ten ways: what the checker is tried on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random

from tests.faults.record import Place, Posted, Record, Sent, Stored

DEFECTS = {
    "no dedupe": "doubled",
    "early ack": "lost",
    "no grace": "disordered",
    "no filter": "stray",
    "no look-up before a second post": "doubled",
    "parts out of order": "disordered",
    "thread mixed up": "crossed",
    "history mixed up": "crossed",
    "answered though withdrawn": "stray",
    "given up after a crash": "lost",
}
"""What is built wrong, and what the checker must call it."""


@dataclass
class SimulatedDesk:
    """Hears deliveries that repeat and overtake each other, and answers them."""

    random: Random
    defect: str = ""
    record: Record = field(default_factory=Record)

    def run(self, threads: int = 6, turns: int = 5) -> Record:
        self._people(threads, turns)
        for sent in self._heard():
            self._answer(sent)
        return self.record

    def _people(self, threads: int, turns: int) -> None:
        for turn in range(turns):
            for thread in range(threads):
                place: Place = ("slack", f"C{thread % 3}", f"T{thread}")
                name = f"{turn:02d}{thread:02d}"
                taken_back = (turn, thread) == (3, 1)
                asks = taken_back or turn == 0 or self.random.random() < 0.9
                self.record.sent.append(
                    Sent(
                        message_id=name,
                        place=place,
                        canary=f"canary-{name:0>8}",
                        asks=asks,
                        withdrawn=taken_back,
                    )
                )

    def _heard(self) -> list[Sent]:
        """The questions as the desk takes them up; a good one puts a thread in order first."""
        deliveries = [sent for sent in self.record.sent for _ in range(3)]
        if self.defect == "no grace":
            self.random.shuffle(deliveries)
        seen: set[str] = set()
        taken = []
        for sent in deliveries:
            if sent.message_id in seen and self.defect != "no dedupe":
                continue
            seen.add(sent.message_id)
            if self._wanted(sent):
                taken.append(sent)
        return taken

    def _wanted(self, sent: Sent) -> bool:
        if self.defect == "early ack" and self.random.random() < 0.2:
            return False
        if sent.withdrawn and self.defect != "answered though withdrawn":
            return False
        return sent.asks or self.defect == "no filter"

    def _answer(self, sent: Sent) -> None:
        question_id = f"{self.random.getrandbits(128):032x}"
        ended = not (self.defect == "given up after a crash" and self.random.random() < 0.2)
        parts = self.random.randint(1, 3)
        said = (self._other(sent).canary,) if self._strikes("history mixed up") else (sent.canary,)
        self.record.stored.append(
            Stored(
                question_id=question_id,
                message_id=sent.message_id,
                place=sent.place,
                canary=sent.canary,
                ended=ended,
                parts=parts,
                answers=1,
                said=said,
            )
        )
        self._post(sent, question_id, parts if ended else parts - 1)

    def _post(self, sent: Sent, question_id: str, parts: int) -> None:
        place = self._other(sent).place if self._strikes("thread mixed up") else sent.place
        posted = [
            Posted(key=f"{question_id[:18]}00{number:04d}", place=place) for number in range(parts)
        ]
        if self._strikes("no look-up before a second post"):
            posted.append(
                posted[-1] if posted else Posted(key=f"{question_id[:18]}000000", place=place)
            )
        if self.defect == "parts out of order":
            posted.reverse()
        self.record.posted.extend(replace(each) for each in posted)

    def _strikes(self, defect: str) -> bool:
        return self.defect == defect and self.random.random() < 0.3

    def _other(self, sent: Sent) -> Sent:
        others = [each for each in self.record.sent if each.place != sent.place]
        return self.random.choice(others)
