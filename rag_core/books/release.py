"""Material that is not out yet shows only where the operator bound its book."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from rag_core.books.audience import CHATS
from rag_core.books.policy import ChannelPolicy
from rag_core.conversation.key import Platform
from rag_core.errors import InvalidQuestion

NOT_YOURS = (
    "A release date later than today can be set only where whoever runs me has bound the book to"
    " this place. Please ask them, or choose today or an earlier day."
)


def is_early(policy: ChannelPolicy, at: datetime) -> bool:
    """Whether it shows what comes out later."""
    return policy.released_at is not None and policy.released_at > at


def operator_bound(policy: ChannelPolicy) -> bool:
    """Whether the operator bound every book that is read there; a default book is not bound."""
    return bool(policy.books) and set(policy.books) <= set(policy.operator_books)


def without_early_release(
    policy: ChannelPolicy, *, platform: Platform, at: datetime
) -> ChannelPolicy:
    """What holds in a place of a chat: an early date that an admin set before the book was chosen
    anew shows no more than what is out."""
    if platform in CHATS and is_early(policy, at) and not operator_bound(policy):
        return replace(policy, released_at=None)
    return policy


def check_release(
    own: ChannelPolicy, holds: ChannelPolicy, *, platform: Platform, at: datetime
) -> None:
    """InvalidQuestion where an admin of a chat would show what is not out yet; `holds` is what
    holds in the place so far."""
    books = own.books or holds.books
    bound = replace(holds.reading(*books), operator_books=holds.operator_books)
    if platform in CHATS and is_early(own, at) and not operator_bound(bound):
        raise InvalidQuestion("release_date", NOT_YOURS)
