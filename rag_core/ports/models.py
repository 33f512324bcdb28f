"""What writes, embeds and orders: models, in the core's own words."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from rag_core.agent.model_events import ModelEvent, ToolChoice, ToolSpec
from rag_core.agent.verification.claims import Claim, Verification
from rag_core.conversation.message import Message
from rag_core.reading.units import SectionUnits

Vector = Sequence[float]


class ChatModel(Protocol):
    """Writes a reply, piece by piece; may ask for tools."""

    @property
    def name(self) -> str: ...

    def stream(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[ToolSpec],
        tool_choice: ToolChoice,
        temperature: float,
        max_tokens: int | None,
    ) -> AsyncIterator[ModelEvent]:
        """Text as it comes, then exactly one Finished. What is cut begins anew or raises."""
        ...


class Embedder(Protocol):
    """Turns texts into vectors of one length."""

    @property
    def model(self) -> str:
        """Names the model so that vectors of different models are never mixed."""
        ...

    @property
    def dimension(self) -> int: ...

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]: ...

    async def embed_query(self, text: str) -> Vector: ...


class Reranker(Protocol):
    """Orders passages by how well they answer a query."""

    async def rerank(
        self, query: str, texts: Sequence[str], *, top: int
    ) -> Sequence[tuple[int, float]]:
        """The positions of the best texts, best first, each with its relevance."""
        ...


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader makes of one section for one question."""

    relevance: float
    """How much the section is about what is asked; it orders sections."""
    answered: float
    """How surely the section holds the answer."""
    units: tuple[float, ...]
    """How well each unit of the section answers, in the order of the units."""


class Reader(Protocol):
    """Reads sections for what they say to a question."""

    @property
    def name(self) -> str:
        """Names the reader, so that cut-offs measured for one are never used for another."""
        ...

    async def read(self, question: str, sections: Sequence[SectionUnits]) -> Sequence[Reading]:
        """One reading for each section, in their order."""
        ...


class Verifier(Protocol):
    """Judges whether claims say what their evidence says."""

    @property
    def name(self) -> str: ...

    async def verify(self, claims: Sequence[Claim]) -> Verification:
        """A verdict for each claim, as far as it has one."""
        ...
