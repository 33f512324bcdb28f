"""People at the web door: what they asked, and what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from time import monotonic
from typing import Any
from uuid import UUID

import httpx

from tests.faults.checker import KEY_LENGTH
from tests.faults.record import Posted, Record, Sent
from tests.faults.yard import QUESTION

CHANNEL = "loopback"
"""Where everybody stands who comes with the local key."""
PATIENCE = 120.0
FURTHER = 0.2
"""How many questions go on in a thread that has had an answer."""


@dataclass
class Visit:
    """One question: answered, refused at the door, or cut off in the middle."""

    sent: Sent
    session: str
    asked_at: float
    answered_at: float | None = None
    further: bool = False
    """Whether it goes on in a thread that has had an answer."""
    document: Mapping[str, Any] | None = None

    @property
    def is_answered(self) -> bool:
        return self.document is not None


class Visitors:
    """They ask over HTTP, each in a thread of their own; some ask twice."""

    def __init__(
        self, random: Random, address: Callable[[], str], *, key: Callable[[], str] = lambda: ""
    ) -> None:
        self._random = random
        self._address = address
        self._key = key
        self._web = httpx.AsyncClient(timeout=PATIENCE, limits=httpx.Limits(max_connections=200))
        self._tasks: set[asyncio.Task[None]] = set()
        self.visits: list[Visit] = []

    def ask(self) -> None:
        """Somebody new, or somebody who has had an answer, asks."""
        canary = f"canary-{self._random.getrandbits(32):08x}"
        earlier = self._earlier()
        session = earlier or str(UUID(int=self._random.getrandbits(128), version=4))
        sent = Sent(message_id=canary, place=("web", CHANNEL, session), canary=canary)
        visit = Visit(sent, session, monotonic(), further=earlier is not None)
        self.visits.append(visit)
        task = asyncio.create_task(self._wait(visit))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _earlier(self) -> str | None:
        answered = [visit for visit in self.visits[-200:] if visit.is_answered]
        if answered and self._random.random() < FURTHER:
            return self._random.choice(answered).session
        return None

    async def _wait(self, visit: Visit) -> None:
        body = {"message": f"{QUESTION} {visit.sent.canary}", "session_id": visit.session}
        try:
            answer = await self._web.post(
                f"{self._address()}/chat/run",
                json=body,
                headers={"Authorization": f"Bearer {self._key()}"},
            )
        except httpx.TransportError:
            return
        if answer.is_success:
            visit.answered_at, visit.document = monotonic(), answer.json()

    async def gone(self) -> None:
        """Wait until everybody has been answered or sent away."""
        await asyncio.gather(*self._tasks)
        await self._web.aclose()

    def put_into(self, record: Record, answers: Sequence[Mapping[str, Any]]) -> None:
        """What they asked by the ids that the database gave it, and what they were shown.

        Who was sent away has asked nothing; who was cut off has, if it was written down."""
        ids = {each.canary: each for each in record.stored if each.place[0] == "web"}
        questions = {row["answer_id"]: row["id"].replace("-", "") for row in answers}
        for visit in self.visits:
            known = ids.get(visit.sent.canary)
            if known is not None:
                record.sent.append(replace(visit.sent, message_id=known.message_id))
            elif visit.document is not None:
                record.sent.append(visit.sent)
            if visit.document is not None:
                shown = questions.get(visit.document["answer_id"], "none")
                record.posted.append(Posted(key=shown[:KEY_LENGTH], place=visit.sent.place))
            elif known is not None:  # whoever comes back finds it in the thread
                record.posted.append(Posted(key=known.question_id[:KEY_LENGTH], place=known.place))
