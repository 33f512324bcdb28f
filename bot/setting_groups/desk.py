"""How long an answer may take, and how much one may ask."""

from __future__ import annotations

from pydantic import BaseModel

from bot.setting import setting


class DeskSettings(BaseModel):
    """How long an answer may take, and how much one may ask."""

    answer_seconds: float = setting(
        "FOOTNOTE_ANSWER_SECONDS",
        60.0,
        "Longest time for one answer, from the moment work on it begins",
        "a number from 5 to 600",
        ge=5,
        le=600,
    )
    user_questions_hour: int = setting(
        "FOOTNOTE_USER_QUESTIONS_HOUR",
        20,
        "Questions of one person in an hour on Discord and Slack; 0: no limit",
        "a whole number from 0",
        ge=0,
    )
    channel_questions_day: int = setting(
        "FOOTNOTE_CHANNEL_QUESTIONS_DAY",
        200,
        "Questions in one channel a day on Discord and Slack; 0: no limit",
        "a whole number from 0",
        ge=0,
    )
    tenant_tokens_day: int | None = setting(
        "FOOTNOTE_TENANT_TOKENS_DAY",
        None,
        "Tokens for one server or workspace a day; unset or 0: no limit",
        "a whole number from 0",
        ge=0,
    )
    queue_questions: int = setting(
        "FOOTNOTE_QUEUE_QUESTIONS",
        1000,
        "Questions that may wait at once; further ones are declined",
        "a whole number from 1 to 100000",
        ge=1,
        le=100_000,
    )
    parallel_answers: int = setting(
        "FOOTNOTE_PARALLEL_ANSWERS",
        32,
        "Questions that are worked on at once",
        "a whole number from 1 to 1000",
        ge=1,
        le=1000,
    )
