"""Gaps and numbers as the OpenAPI description shows them."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from adapters.web.documents.answer_schema import SuggestionModel
from adapters.web.documents.schemas import Count, Model, Score

Outcomes = Literal["completed", "low_confidence", "no_results", "error"]


class GapModel(Model):
    """What was asked in vain, as one thing to write about."""

    gap_id: UUID
    state: Literal["open", "planned", "answered"]
    example: str
    examples: list[str]
    count: Annotated[int, Field(ge=1)]
    nearest: SuggestionModel | None
    platforms: list[Literal["discord", "slack", "web", "cli"]]
    first_asked_at: datetime
    last_asked_at: datetime


class GapsModel(Model):
    """The gaps, the most asked first."""

    gaps: list[GapModel]


class TallyModel(Model):
    """Questions, with what became of them and what askers thought."""

    questions: Count
    outcomes: dict[Outcomes, Count]
    shares: dict[Outcomes, Score]
    helpful: Count
    not_helpful: Count
    helpful_rate: Score | None


class DayModel(TallyModel):
    """One day in UTC."""

    day: date


class PlatformModel(TallyModel):
    """One platform."""

    platform: Literal["discord", "slack", "web", "cli"]


class ChannelModel(PlatformModel):
    """One channel; the web and the terminal are one each, without a channel id."""

    tenant: str
    channel_id: str


class SecondsModel(Model):
    """From a question's arrival to its stored answer; null without an answer."""

    p50: Annotated[float, Field(ge=0)] | None
    p95: Annotated[float, Field(ge=0)] | None


class StatsModel(TallyModel):
    """What happened in the last days."""

    seconds_to_answer: SecondsModel
    days: list[DayModel]
    platforms: list[PlatformModel]
    channels: list[ChannelModel]


class PolicyModel(Model):
    """What a channel, a category or a whole server says for itself."""

    platform: Literal["discord", "slack", "web", "cli"]
    tenant: str
    channel_id: str
    book_ids: list[str]
    modules: list[str]
    auto_answer: bool | None
    hint_only: bool | None
    tone: str | None
    released_at: datetime | None
    hardware_tier: int | None
    proficiency_levels: list[str]


class PoliciesModel(Model):
    """What all places say."""

    policies: list[PolicyModel]
