"""The models that are asked elsewhere: is the key taken, the address right, the model there?"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from adapters.steward import Finding
from bot.embedding import EmbeddingChoice, advice_on_renewal, chosen
from bot.examination.look import LOOK_SECONDS, Check, in_place, missing, warning
from bot.providers import (
    INDEX_FOLDER,
    embedding_choice,
    open_chat_model,
    open_embedder,
    open_reranker,
)
from bot.settings import Settings
from rag_core.agent.model_events import ToolChoice
from rag_core.conversation.message import Message
from rag_core.errors import StorageError, UpstreamError, UpstreamRejected
from rag_core.ports import Embedder
from rag_core.retrieval.likeness import cosine

PROBE_TOKENS = 16
STRICTLY_SURE = 0.85
"""The mean similarity from which the profile `strict` has a high confidence."""
PROBES = (
    ("How many questions may I ask in a day?", "You may ask ten questions in a day."),
    ("How do I reset my password?", "To reset your password, open Settings and choose Reset."),
    ("Which port does the server listen on?", "The server listens on port 8080 by default."),
)
"""Questions, each with a passage that answers it: as alike as the two ever are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The variables that decide whether a service answers."""

    key: str
    address: str
    model: str

    @property
    def advice(self) -> str:
        return f"Check {self.key}, {self.address} and {self.model}."

    def advice_on(self, error: UpstreamError) -> str:
        """What to do about this very refusal."""
        reason = str(error)
        if any(status in reason for status in ("status 401", "status 403", "status 498")):
            return f"Put a valid key into {self.key}, or correct {self.address}."
        if "status 404" in reason:
            return f"Correct {self.model}, or the path in {self.address}."
        if "status 429" in reason:
            return "The account's limit is used up: raise it at the vendor, or wait."
        if isinstance(error, UpstreamRejected):
            return self.advice
        return f"See whether the service answers, and correct {self.address}."


USE_CALIBRATED = (
    "Set FOOTNOTE_CONFIDENCE_PROFILE=calibrated, or choose an embedder whose similarities are"
    " higher."
)
OPENAI_CHAT = Access(key="OPENAI_API_KEY", address="OPENAI_BASE_URL", model="OPENAI_MODEL")
OPENAI_VECTORS = Access(
    key="OPENAI_API_KEY", address="OPENAI_BASE_URL", model="OPENAI_EMBEDDING_MODEL"
)
COHERE_VECTORS = Access(key="COHERE_API_KEY", address="CO_API_URL", model="COHERE_MODEL")
COHERE_RERANK = Access(key="COHERE_API_KEY", address="CO_API_URL", model="COHERE_RERANK_MODEL")


def of_models(settings: Settings, folder: Path, own: Embedder | None) -> Sequence[Check]:
    """`own` is the embedder of an open house: the local model is not loaded twice."""

    async def chat() -> Sequence[Finding]:
        return [await probed("language model", OPENAI_CHAT, chat_answers(settings))]

    async def vectors() -> Sequence[Finding]:
        choice = await choice_in_use(settings, folder)
        access = COHERE_VECTORS if choice.runner == "cohere" else OPENAI_VECTORS
        opened = contextlib.nullcontext(own) if own else open_embedder(settings, choice)
        found = await probed("embedder", access, embeds(opened))
        if found.in_place and choice.is_outdated:
            advice = advice_on_renewal(settings, folder / INDEX_FOLDER)
            detail = f"{found.detail} The index was built with this former model and keeps it."
            return [warning("embedder", detail, advice)]
        return [found]

    async def reranking() -> Sequence[Finding]:
        return [await probed("reranker", COHERE_RERANK, reranks(settings))]

    checks = [
        Check(name="language model", look=chat, advice=OPENAI_CHAT.advice),
        Check(name="embedder", look=vectors, advice="Check the embedder's key, address and model."),
    ]
    if settings.confidence_profile == "strict":

        async def strict() -> Sequence[Finding]:
            choice = await choice_in_use(settings, folder)
            opened = contextlib.nullcontext(own) if own else open_embedder(settings, choice)
            async with opened as embedder:
                return [await strictness(embedder)]

        checks.append(Check(name="confidence profile", look=strict, advice=USE_CALIBRATED))
    if settings.cohere_rerank_model is not None:
        checks.append(Check(name="reranker", look=reranking, advice=COHERE_RERANK.advice))
    return checks


async def strictness(embedder: Embedder) -> Finding:
    """Whether a question and its answer are as alike by this embedder as the profile asks."""
    vectors = await embedder.embed_documents([passage for _, passage in PROBES])
    alike = [
        cosine(await embedder.embed_query(question), vector)
        for (question, _), vector in zip(PROBES, vectors, strict=True)
    ]
    reached = sum(alike) / len(alike)
    says = (
        f"strict is sure from a mean similarity of {STRICTLY_SURE:g} over five passages; by"
        f" {embedder.model} a question and the sentence that answers it have {reached:.2f}"
    )
    if reached >= STRICTLY_SURE:
        return in_place("confidence profile", f"{says}.")
    return warning(
        "confidence profile", f"{says}, so most questions will be refused.", USE_CALIBRATED
    )


async def choice_in_use(settings: Settings, folder: Path) -> EmbeddingChoice:
    """What the index was built with; where it cannot be read, its own finding says why, and the
    settings alone decide here."""
    try:
        return await embedding_choice(settings, folder)
    except (StorageError, UpstreamError):
        return chosen(settings, None)


async def probed(name: str, access: Access, answer: AsyncIterator[str]) -> Finding:
    """What a small call says; a refusal names the variable to change."""
    try:
        said = [each async for each in answer]
    except UpstreamError as error:
        return missing(name, f"{error}.", access.advice_on(error))
    return in_place(name, said[0])


async def chat_answers(settings: Settings) -> AsyncIterator[str]:
    if settings.chat_model == "quoting":
        yield "No language model: answers are quoted from the documents."
        return
    async with open_chat_model(settings, patience=LOOK_SECONDS / 2) as model:
        assert model is not None
        stream = model.stream(
            [Message.user("Say yes.", at=datetime.now(UTC))],
            tools=(),
            tool_choice=ToolChoice.NONE,
            temperature=0.0,
            max_tokens=PROBE_TOKENS,
        )
        async for _ in stream:
            pass
        where = settings.openai_base_url or "OpenAI"
        yield f"{model.name} answers at {where}."


async def embeds(opened: contextlib.AbstractAsyncContextManager[Embedder]) -> AsyncIterator[str]:
    async with opened as embedder:
        vector = await embedder.embed_query("Is anybody there?")
        yield f"{embedder.model} gives {len(vector)} numbers."


async def reranks(settings: Settings) -> AsyncIterator[str]:
    async with open_reranker(settings) as reranker:
        if reranker is not None:
            await reranker.rerank("Is anybody there?", ["Yes.", "No."], top=1)
        yield f"{settings.cohere_rerank_model} answers."
