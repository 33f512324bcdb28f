"""Questions that were asked before: known again, and led back to where they were answered."""

from __future__ import annotations

import hashlib
import hmac
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from rag_core.agent.answer import AgentResponse, EarlierThread, Outcome
from rag_core.agent.language.words import content, stems
from rag_core.books.book import BookIds
from rag_core.conversation.key import Platform
from rag_core.conversation.state import Turn
from rag_core.desk.incoming import IncomingQuestion
from rag_core.errors import FootnoteError
from rag_core.ports import Vector
from rag_core.retrieval.cosines import scale_of

log = logging.getLogger(__name__)

COMPARED = 5
DENIALS = frozenset(
    ("not", "no", "never", "none", "neither", "nor", "cannot", "nobody", "nothing", "nowhere")
)
HALF_BYTES = 2

Opens = Callable[[IncomingQuestion], bool]
"""Whether a question began a thread that everybody reads who can ask in its channel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How a question is known again; its words are not kept here."""

    question_id: UUID
    place: str
    """A keyed hash of the channel and the books."""
    digest: str
    """A keyed hash of the words that carry meaning."""
    vector: Vector


class Candidate(NamedTuple):
    """A question that was answered there before. There are hundreds of them, of which a few are
    looked at: so they are left as they are stored."""

    question_id: str
    digest: str
    halves: bytes
    """Its vector, in numbers of half precision."""


class RepeatStore(Protocol):
    """The answered questions by which others are known again."""

    async def key(self) -> str:
        """The secret that hashes are made with; the same ever since it was first asked for."""
        ...

    async def answered_in(self, place: str, *, besides: UUID) -> Sequence[Candidate]:
        """The newest questions there that stand answered, up to a bound."""
        ...

    async def question(self, question_id: UUID) -> IncomingQuestion | None: ...

    async def remember(self, asked: Asked, *, earlier: UUID | None) -> None:
        """Keep how this question is known, and which earlier one is like it."""
        ...


class Meaning(Protocol):
    """The retriever's embedder: what was looked up needs no second look."""

    @property
    def model(self) -> str: ...

    async def embed_query(self, text: str) -> Vector: ...


class Repeats:
    """Finds the earlier thread of a question, and remembers the question for later ones."""

    def __init__(
        self, *, store: RepeatStore, meaning: Meaning, opens: Mapping[Platform, Opens]
    ) -> None:
        self._store = store
        self._meaning = meaning
        self._opens = opens

    async def told(
        self,
        question_id: UUID,
        question: IncomingQuestion,
        response: AgentResponse,
        turn: Turn | None,
        books: BookIds,
    ) -> AgentResponse:
        """The answer, with the thread in which the same was answered before."""
        opens = self._opens.get(question.key.platform)
        if opens is None or not opens(question) or not is_whole(response, turn):
            return response
        try:
            earlier = await self._earlier(question_id, question, turn, books)
        except FootnoteError as error:
            # The answer stands without it.
            log.warning("earlier questions not read", extra={"cause": type(error).__name__})
            return response
        return replace(response, asked_before=earlier)

    async def _earlier(
        self, question_id: UUID, question: IncomingQuestion, turn: Turn | None, books: BookIds
    ) -> EarlierThread | None:
        assert turn is not None
        key = bytes.fromhex(await self._store.key())
        words = question.question.message
        asked = Asked(
            question_id=question_id,
            place=hashed(key, *place_of(question), *sorted(books)),
            digest=hashed(key, *meaning_of(words)),
            vector=await self._meaning.embed_query(turn.retrievals[0].query),
        )
        known = await self._store.answered_in(asked.place, besides=question_id)
        for candidate in likest(asked, known, least=scale_of(self._meaning.model).same_question):
            its_id = UUID(candidate.question_id)
            before = await self._store.question(its_id)
            if before is None or before.key == question.key:
                continue
            if candidate.digest == asked.digest or is_same(words, before.question.message):
                await self._store.remember(asked, earlier=its_id)
                return EarlierThread(
                    key=before.key, message_id=before.message_id, asked_at=before.heard_at
                )
        await self._store.remember(asked, earlier=None)
        return None


def is_whole(response: AgentResponse, turn: Turn | None) -> bool:
    """Whether the documents answered a question that stands for itself."""
    return (
        turn is not None
        and bool(turn.retrievals)
        and response.outcome is Outcome.COMPLETED
        and turn.metadata.get("standalone", response.query) == response.query
    )


def place_of(question: IncomingQuestion) -> tuple[str, ...]:
    key = question.key
    return (key.platform.value, key.tenant, key.channel_id)


def hashed(key: bytes, *words: str) -> str:
    return hmac.new(key, "\0".join(words).encode(), hashlib.sha256).hexdigest()


def likest(asked: Asked, known: Sequence[Candidate], *, least: float) -> list[Candidate]:
    """The same words first, then what comes near in meaning: below `least`, two questions are not
    compared word by word."""
    same = [each for each in known if each.digest == asked.digest]
    others = [each for each in known if len(each.halves) == HALF_BYTES * len(asked.vector)]
    if not others:
        return same[:COMPARED]
    rows = vectors_of(others)
    own = np.array(asked.vector, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(own)
    likeness = rows @ own / np.where(lengths == 0, 1, lengths)
    near = [others[place] for place in np.argsort(-likeness) if likeness[place] >= least]
    return list(dict.fromkeys([*same, *near]))[:COMPARED]


def vectors_of(candidates: Sequence[Candidate]) -> NDArray[np.float32]:
    """One row for each of these, whose vectors are of one length."""
    halves = np.frombuffer(b"".join([each.halves for each in candidates]), dtype="<f2")
    return halves.reshape(len(candidates), -1).astype(np.float32)


def is_same(one: str, other: str) -> bool:
    """Whether neither asks for something that the other does not: winter is not summer.

    Either may say more than the other, not both; numbers and denials are the same in both."""
    first, second = set(meaning_of(one)), set(meaning_of(other))
    return (
        (first <= second or second <= first)
        and numbers_in(first) == numbers_in(second)
        and denials_in(one) == denials_in(other)
    )


def meaning_of(text: str) -> tuple[str, ...]:
    return tuple(sorted(set(content(text)))) or (" ".join(text.casefold().split()),)


def numbers_in(words: set[str]) -> set[str]:
    return {word for word in words if any(map(str.isdigit, word))}


def denials_in(text: str) -> int:
    return sum(word in DENIALS for word in stems(text))
