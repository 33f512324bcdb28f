"""The desk's bounds, from the settings."""

from __future__ import annotations

from collections.abc import Mapping

from bot.settings import Settings
from rag_core.conversation.key import Platform
from rag_core.desk.limits import Bounds, DeskLimits

GRACE_SECONDS = 0.15
"""Chat platforms send the messages of a thread side by side; they arrive within this time."""
CHATS = (Platform.DISCORD, Platform.SLACK)


def desk_limits(settings: Settings) -> DeskLimits:
    return DeskLimits(answer_seconds=settings.answer_seconds, parallel=settings.parallel_answers)


def desk_bounds(settings: Settings) -> Mapping[Platform, Bounds]:
    """What each platform's askers may ask; the web door and the command line have their own."""
    at_the_door = Bounds(waiting=settings.queue_questions, waiting_notices=0)
    chat = Bounds(
        waiting=settings.queue_questions,
        user_hour=settings.user_questions_hour,
        channel_day=settings.channel_questions_day,
        tenant_tokens_day=settings.tenant_tokens_day or 0,
        grace_seconds=GRACE_SECONDS,
    )
    return {platform: chat if platform in CHATS else at_the_door for platform in Platform}
