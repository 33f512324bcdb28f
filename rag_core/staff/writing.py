"""What the operator does about staff answers: writes them, changes them, and shares them."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from rag_core.conversation.key import LOCAL_TENANT, Platform
from rag_core.desk.incoming import MessageIdentity
from rag_core.errors import InvalidQuestion
from rag_core.ports import Embedder
from rag_core.staff.answer import (
    EVERYWHERE,
    LEAST_WORDS,
    MAX_NAME,
    MAX_QUESTION,
    MAX_TEXT,
    Keeping,
    StaffAnswer,
    may_answer,
    one_line,
    with_vector,
)
from rag_core.staff.staffing import NOT_THERE, MarksChanges
from rag_core.staff.store import StaffAnswerStore
from rag_core.text.visible import visible

log = logging.getLogger(__name__)

NO_ANSWER = f"An answer has at least {LEAST_WORDS} words and asks nothing back."
NOT_WRITTEN_HERE = "Its words are somebody's message: they change when that message is edited."
SHARED_ANYWAY = "It was written down here: it is found wherever its book is read."
PLACE = re.compile(rf"{EVERYWHERE}|web|discord:[0-9]{{1,32}}|slack:[A-Z0-9]{{1,32}}")
PLACE_RULE = f"{EVERYWHERE}, web, discord:SERVER or slack:WORKSPACE"
MOST_PLACES = 50
A_DAY = timedelta(days=1)
"""A last day ends when it ends for whoever named it, wherever that is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What an admin wrote down, and for which book."""

    book_id: str
    text: str
    author: str
    question: str = ""
    expires_at: datetime | None = None
    """None: as long as any staff answer is kept."""


class Writing:
    """Keeps what is written down at once: nobody has to be asked about their own words."""

    def __init__(
        self,
        *,
        store: StaffAnswerStore,
        ledger: MarksChanges,
        embedder: Embedder,
        kept_for: timedelta,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = store
        self._ledger = ledger
        self._embedder = embedder
        self._kept_for = kept_for
        self._now = now

    async def write(self, draft: Draft, *, by: str) -> StaffAnswer:
        """From now on it is found by whoever reads the book."""
        now = self._now()
        answer = StaffAnswer(
            id=(answer_id := uuid4()),
            identity=MessageIdentity(
                platform=Platform.WEB.value,
                tenant=LOCAL_TENANT,
                channel_id=by,
                message_id=str(answer_id),
            ),
            question_id=None,
            question=one_line(draft.question, MAX_QUESTION),
            text=checked(draft.text),
            author_id=by,
            author=one_line(draft.author, MAX_NAME) or "staff",
            link="",
            book_id=draft.book_id,
            modules=(),
            released_at=now,
            said_at=now,
            changed_at=now,
            expires_at=self._last_moment(draft.expires_at),
            keeping=Keeping.KEPT,
            kept_by=by,
        )
        await self._store.add(await with_vector(answer, self._embedder))
        log.info("a staff answer is written", extra={"staff_answer": str(answer_id)})
        return answer

    async def change(
        self, answer_id: UUID, *, text: str | None = None, expires_at: datetime | None = None
    ) -> StaffAnswer:
        """Other words, or another last moment; a moment that is over ends it now."""
        answer = await self._kept(answer_id)
        if text is not None and not answer.is_written_down:
            raise InvalidQuestion("text", NOT_WRITTEN_HERE)
        until = answer.expires_at if expires_at is None else self._last_moment(expires_at)
        new = answer.text if text is None else checked(text)
        changed = replace(answer, text=new, expires_at=until, changed_at=self._now())
        await self._store.save(await with_vector(changed, self._embedder))
        if changed.chunk_id != answer.chunk_id:
            await self._ledger.mark_changed([answer.chunk_id])
        return changed

    async def share(self, answer_id: UUID, places: Sequence[str]) -> StaffAnswer:
        """Let these places find the answer beside its own one; none: its own one alone.

        It is these words that are shared: with another text, sharing ends."""
        answer = await self._kept(answer_id)
        if answer.is_written_down:
            raise InvalidQuestion("places", SHARED_ANYWAY)
        shared = replace(answer, shared_with=checked_places(places))
        await self._store.save(shared)
        log.info("a staff answer is shared", extra={"staff_answer": str(answer_id)})
        return shared

    def _last_moment(self, wanted: datetime | None) -> datetime:
        latest = self._now() + self._kept_for
        if wanted is not None and wanted > latest + A_DAY:
            sentence = f"expires_at must be at most {self._kept_for.days} days from now."
            raise InvalidQuestion("expires_at", sentence, allowed=f"until {latest:%Y-%m-%d}")
        return wanted or latest

    async def _kept(self, answer_id: UUID) -> StaffAnswer:
        answer = await self._store.get(answer_id)
        if answer is None or answer.keeping is not Keeping.KEPT:
            raise InvalidQuestion("staff_answer", NOT_THERE)
        return answer


def checked(text: str) -> str:
    """The words as they are shown; what can be no answer is refused."""
    seen = visible(text).strip()
    if not may_answer(seen):
        raise InvalidQuestion("text", NO_ANSWER)
    if len(seen) > MAX_TEXT:
        raise InvalidQuestion("text", f"text must have at most {MAX_TEXT} characters.")
    return seen


def checked_places(places: Sequence[str]) -> tuple[str, ...]:
    """Each place once; an InvalidQuestion for what names none."""
    unique = tuple(dict.fromkeys(places))
    for place in unique:
        if not PLACE.fullmatch(place):
            sentence = f"{place!r} is not a place to share with: {PLACE_RULE}."
            raise InvalidQuestion("places", sentence, allowed=PLACE_RULE)
    if len(unique) > MOST_PLACES:
        raise InvalidQuestion("places", f"places must name at most {MOST_PLACES}.")
    return unique
