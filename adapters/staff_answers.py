"""What is said around a staff answer, the same on every platform."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Protocol
from uuid import UUID

from adapters.review import NOT_SAVED
from rag_core.conversation.key import ConversationKey, Platform, TenantId
from rag_core.desk.incoming import MessageIdentity
from rag_core.errors import FootnoteError, InvalidQuestion
from rag_core.staff.answer import Refused, StaffAnswer, StaffReply
from rag_core.staff.staffing import Kept

log = logging.getLogger(__name__)

KEEP, LEAVE, WITHDRAW = "keep", "leave", "withdraw"
LABELS = {KEEP: "Keep as an answer", LEAVE: "Not this one", WITHDRAW: "Withdraw"}
QUESTION = (
    "Keep your reply as an answer? From then on everybody here who reads the book “{book}” may be"
    " shown it when they ask the same, in other channels as well: your words, your name and a link"
    " to your message. Whoever runs me may share your words further, without your name."
)
KEPT = (
    "Kept until {until}: cited as “{title}”. If you edit your message, the answer changes with it;"
    " if you delete it, the answer is withdrawn."
)
KEPT_BEFORE = "This reply is kept already, until {until}."
LEFT = "Left as it is: your reply is not kept."
WITHDRAWN = "Withdrawn: nobody is shown this answer any more."
WITHDRAWN_BEFORE = "This answer was withdrawn already."
NOT_YOURS = "Only who wrote this reply, and admins, can decide about it."
NOTHING_TO_KEEP = "This message cannot be an answer: it has few words or asks something itself."
NOT_KEPT_HERE = (
    "I can't keep answers in this place yet: whoever runs me has to bind a book to it first."
)
NOT_STAFF = "Only staff and admins can keep a reply as an answer."


class KeepsAnswers(Protocol):
    """The life of staff answers, as a platform sees it."""

    async def refused_in(self, key: ConversationKey) -> Refused | None: ...

    async def offer(self, said: StaffReply, refused: Refused | None) -> StaffAnswer | None: ...

    async def keep(self, answer_id: UUID, *, by: str) -> Kept: ...

    async def withdraw(self, answer_id: UUID) -> Kept: ...

    async def edited(self, identity: MessageIdentity, text: str) -> None: ...

    async def deleted(self, identity: MessageIdentity) -> None: ...

    async def get(self, answer_id: UUID) -> StaffAnswer | None: ...

    async def listed(self) -> Sequence[StaffAnswer]: ...


def choices(answer: StaffAnswer) -> list[str]:
    """Which buttons stand below the question about a reply."""
    return [WITHDRAW] if is_kept(answer) else [KEEP, LEAVE]


def is_kept(answer: StaffAnswer) -> bool:
    return answer.is_found_at(datetime.now(UTC))


def asking(answer: StaffAnswer) -> str:
    """What is asked of whoever wrote it."""
    if is_kept(answer):
        return KEPT_BEFORE.format(until=day(answer))
    return QUESTION.format(book=answer.book_id)


def day(answer: StaffAnswer) -> str:
    return f"{answer.expires_at:%Y-%m-%d}"


class Decisions:
    """Carries out what was decided about a reply, and says in one sentence what came of it."""

    def __init__(self, staffing: KeepsAnswers) -> None:
        self._staffing = staffing

    async def decide(
        self, act: str, answer_id: UUID, *, by: str, at: tuple[Platform, TenantId], is_admin: bool
    ) -> str:
        """Its author may, and an admin of its own place; others are like strangers to it."""
        try:
            answer = await self._staffing.get(answer_id)
            if answer is not None and not may_decide(answer, by=by, at=at, is_admin=is_admin):
                return NOT_YOURS
            return await self._carried_out(act, answer_id, by)
        except InvalidQuestion as error:
            return error.message
        except FootnoteError as error:
            log.error("a decision did not take effect", extra={"cause": type(error).__name__})
            return NOT_SAVED

    async def _carried_out(self, act: str, answer_id: UUID, by: str) -> str:
        if act == KEEP:
            done = await self._staffing.keep(answer_id, by=by)
            words = KEPT if done.changed else KEPT_BEFORE
            return words.format(until=day(done.answer), title=done.answer.title)
        done = await self._staffing.withdraw(answer_id)
        if act == LEAVE and not done.answer.kept_by:
            return LEFT
        return WITHDRAWN if done.changed else WITHDRAWN_BEFORE


def may_decide(
    answer: StaffAnswer, *, by: str, at: tuple[Platform, TenantId], is_admin: bool
) -> bool:
    """Discord's user ids name one person everywhere, and authors are asked in direct messages;
    a user id of Slack says nothing in another workspace."""
    is_here = answer.place == at or at[0] is answer.place[0] is Platform.DISCORD
    return (answer.author_id == by and is_here) or (is_admin and answer.place == at)
