"""What strangers may send: the JSON bodies of the web door, and the domain values they become."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from adapters.web.documents.fields import (
    MAX_NAME,
    UUID_V4,
    BookName,
    BookNames,
    Chapter,
    Moment,
    Name,
    Text,
    Tier,
    Whole,
    bounds,
)
from rag_core.books.audience import Audience
from rag_core.books.book import BookIds
from rag_core.books.policy import ChannelPolicy, Place, ReaderProfile
from rag_core.conversation.context import MAX_CONTEXT, ContextItem, ContextKind
from rag_core.conversation.key import Platform, TenantId
from rag_core.conversation.question import MAX_QUESTION, MAX_TOP_K, MIN_TOP_K, Question
from rag_core.errors import InvalidQuestion
from rag_core.ingestion.job import IngestionMode
from rag_core.retrieval.query import (
    DEFAULT_LIMIT,
    MAX_LESSON,
    MAX_TIER,
    MIN_TEXT,
    MIN_TIER,
    Filters,
    Layer,
    Proficiency,
    SearchQuery,
    within,
)
from rag_core.staff.answer import MAX_TEXT as MAX_WRITTEN
from rag_core.staff.writing import MOST_PLACES, Draft

MAX_HTTP_LIMIT = 10
MAX_REASON = 1_000


class Body(BaseModel):
    """A body whose every field is known and of its own type."""

    model_config = ConfigDict(extra="forbid", strict=True)


class FilterFields(Body):
    """Conditions that all hold together; null is no condition."""

    module: Name | None = None
    chapter_min: Chapter | None = None
    chapter_max: Chapter | None = None
    lesson: Annotated[
        Whole | None, Field(json_schema_extra=bounds(minimum=0, maximum=MAX_LESSON))
    ] = None
    hardware_tier: Tier | None = None
    proficiency_levels: (
        Annotated[list[Literal["A1", "A2", "B1", "B2", "C1", "C2"]], Field(max_length=6)] | None
    ) = None
    layer: Literal["L1", "L2", "L3", "L4"] | None = None
    parent_doc_id: Name | None = None

    def filters(self) -> Filters:
        return Filters(
            module=self.module,
            chapter_min=self.chapter_min,
            chapter_max=self.chapter_max,
            lesson=self.lesson,
            hardware_tier=self.hardware_tier,
            proficiency_levels=tuple(Proficiency(level) for level in self.proficiency_levels or ()),
            layer=Layer(self.layer) if self.layer else None,
            parent_doc_id=self.parent_doc_id,
        )


class ContextBody(Body):
    """What came with a question and is not itself asked."""

    kind: Literal["thread", "reply", "paste", "attachment", "image"]
    text: Annotated[Text, Field(json_schema_extra=bounds(minLength=1, maxLength=MAX_CONTEXT))]
    author: Name | None = None

    def item(self) -> ContextItem:
        return ContextItem(kind=ContextKind(self.kind), text=self.text, author=self.author or "")


class ChatBody(FilterFields):
    """A question."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"message": "How many questions may I ask in an hour?"},
                {
                    "message": "And over HTTP?",
                    "session_id": "5b0c8a52-6a53-4a8e-9a55-1f5b8d3f2c11",
                    "top_k": 5,
                    "book_ids": ["course"],
                },
            ]
        }
    )

    message: Annotated[Text, Field(json_schema_extra=bounds(minLength=1, maxLength=MAX_QUESTION))]
    context: list[ContextBody] | None = None
    """At most 20,000 characters in all."""
    session_id: Annotated[
        str | None, Field(max_length=MAX_NAME, json_schema_extra=bounds(pattern=UUID_V4))
    ] = None
    stream: bool | None = None
    top_k: Annotated[
        Whole | None, Field(json_schema_extra=bounds(minimum=MIN_TOP_K, maximum=MAX_TOP_K))
    ] = None
    similarity_threshold: Annotated[
        float | None, Field(json_schema_extra=bounds(minimum=0.0, maximum=1.0))
    ] = None
    book_ids: BookNames | None = None

    def session(self) -> UUID | None:
        return None if self.session_id is None else checked_session(self.session_id)

    def question(self, session_id: UUID, *, message: str, paste: Sequence[ContextItem]) -> Question:
        """The question, by its own message or by the one that was found in it."""
        return Question(
            message=message,
            context=(*paste, *(each.item() for each in self.context or ())),
            session_id=session_id,
            top_k=self.top_k,
            similarity_threshold=self.similarity_threshold,
            filters=self.filters(),
        )


class SearchBody(FilterFields):
    """A search."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"text": "rate limits", "limit": 3, "module": "module-1"}]}
    )

    text: Annotated[
        Text, Field(max_length=MAX_QUESTION, json_schema_extra=bounds(minLength=MIN_TEXT))
    ]
    book_ids: BookNames | None = None
    limit: Annotated[
        Whole | None, Field(json_schema_extra=bounds(minimum=1, maximum=MAX_HTTP_LIMIT))
    ] = None
    similarity_threshold: Annotated[
        float | None, Field(json_schema_extra=bounds(minimum=0.0, maximum=1.0))
    ] = None

    def query(
        self, books: BookIds, audience: Audience, *, most: int = MAX_HTTP_LIMIT
    ) -> SearchQuery:
        within("limit", self.limit, 1, most)
        return SearchQuery(
            text=self.text,
            book_ids=books,
            audience=audience,
            limit=self.limit or DEFAULT_LIMIT,
            similarity_threshold=self.similarity_threshold or 0.0,
            filters=self.filters(),
        )


class JobBody(Body):
    """Files or addresses to read into a book."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"book_id": "course", "paths": ["/srv/course"], "mode": "incremental"}]
        }
    )

    book_id: BookName
    paths: Annotated[list[Name], Field(min_length=1, max_length=100)] | None = None
    urls: Annotated[list[Name], Field(min_length=1, max_length=100)] | None = None
    mode: Literal["incremental", "full", "recreate"] = "incremental"
    base_url: Name = ""
    site: Literal["", "docusaurus", "mkdocs", "mdbook", "github", "plain"] = ""
    title: Name = ""
    embed_anew: bool = False
    """In the modes full and recreate: make every vector anew, also of text that did not change."""

    def ingestion_mode(self) -> IngestionMode:
        return IngestionMode(self.mode)


class FeedbackBody(Body):
    """What an asker thought of an answer."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"answer_id": "9c5f3c4e-58f4-4b06-8f0e-8a0c5a0f3b7d", "rating": "helpful"},
            ]
        }
    )

    answer_id: Annotated[str, Field(max_length=MAX_NAME, json_schema_extra=bounds(format="uuid"))]
    rating: Literal["helpful", "not_helpful"]
    reason: Annotated[Text, Field(max_length=MAX_REASON)] | None = None


class GapBody(Body):
    """What becomes of a gap."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"state": "planned"}]})

    state: Literal["open", "planned", "answered"]


class StaffAnswerBody(Body):
    """An answer that an admin writes down."""

    book_id: BookName
    question: Name = ""
    text: Annotated[Text, Field(min_length=1, max_length=MAX_WRITTEN)]
    author: Annotated[Name, Field(min_length=1)]
    expires_at: Moment | None = None

    def draft(self) -> Draft:
        return Draft(
            book_id=self.book_id,
            question=self.question,
            text=self.text,
            author=self.author,
            expires_at=self.expires_at,
        )


class StaffChangeBody(Body):
    """What of it is different from now on; null stays as it is."""

    text: Annotated[Text, Field(min_length=1, max_length=MAX_WRITTEN)] | None = None
    expires_at: Moment | None = None


class SharingBody(Body):
    """Where else an answer is found from now on: everywhere, web, discord:SERVER, slack:WORKSPACE;
    an empty list: in its own place alone."""

    places: Annotated[list[Name], Field(max_length=MOST_PLACES)]


class UploadsBody(Body):
    """What is to be read of the files that were dropped."""

    title: Name = ""


class PolicyBody(Body):
    """What a channel, a category or a whole server says for itself; empty: nothing any more."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "platform": "slack",
                    "tenant": "T123",
                    "channel_id": "C456",
                    "book_ids": ["course"],
                }
            ]
        }
    )

    platform: Literal["discord", "slack"]
    tenant: Annotated[Name, Field(min_length=1)]
    channel_id: Name = ""
    book_ids: Annotated[list[BookName], Field(max_length=100)] = []
    modules: Annotated[list[Name], Field(max_length=100)] = []
    auto_answer: bool | None = None
    hint_only: bool | None = None
    tone: Name | None = None
    released_at: Moment | None = None
    hardware_tier: Annotated[Tier, Field(ge=MIN_TIER, le=MAX_TIER)] | None = None
    proficiency_levels: Annotated[
        list[Literal["A1", "A2", "B1", "B2", "C1", "C2"]], Field(max_length=6)
    ] = []

    def place(self) -> Place:
        return Place(
            platform=Platform(self.platform),
            tenant=TenantId(self.tenant),
            channel_id=self.channel_id,
        )

    def policy(self) -> ChannelPolicy:
        return ChannelPolicy(
            modules=tuple(self.modules),
            auto_answer=self.auto_answer,
            hint_only=self.hint_only,
            tone=self.tone or None,
            released_at=self.released_at,
            reader=ReaderProfile(
                hardware_tier=self.hardware_tier,
                proficiency_levels=tuple(self.proficiency_levels),
            ),
        ).reading(*self.book_ids)


def checked_session(text: str) -> UUID:
    session_id = uuid_of(text)
    if session_id is None or session_id.version != 4:
        raise InvalidQuestion(
            "session_id", "session_id must be a UUID of version 4.", allowed="a UUID v4"
        )
    return session_id


def uuid_of(text: str) -> UUID | None:
    """The id in its canonical form, or None for anything else."""
    try:
        value = UUID(text)
    except ValueError:
        return None
    return value if str(value) == text.lower() else None
