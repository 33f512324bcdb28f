"""The models that are asked elsewhere: is the key taken, the address right, the model there, and
can it call the tool?"""

from __future__ import annotations

import contextlib
import re
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from adapters.steward import Finding
from bot.chat_endpoint import endpoint_of
from bot.chat_presets import variables_of
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
from rag_core.agent.model_events import Finished, ToolChoice
from rag_core.agent.tool_contract import RETRIEVE
from rag_core.conversation.message import Message
from rag_core.errors import ModelBehaviourError, StorageError, UpstreamError, UpstreamRejected
from rag_core.ports import Embedder
from rag_core.retrieval.likeness import cosine
from rag_core.text.visible import visible

STRICTLY_SURE = 0.85
"""The mean similarity from which the profile `strict` has a high confidence."""
PROBES = (
    ("How many questions may I ask in a day?", "You may ask ten questions in a day."),
    ("How do I reset my password?", "To reset your password, open Settings and choose Reset."),
    ("Which port does the server listen on?", "The server listens on port 8080 by default."),
)
"""Questions, each with a passage that answers it: as alike as the two ever are."""

PROBE_TOKENS = 200
"""Enough for a model that reasons before it calls the tool."""
MAX_REASON = 200
REASONS = (
    (
        re.compile(r"api[ _-]?key|unauthori[sz]ed|authentication|subscription key|status 40[13]"),
        "key",
    ),
    (re.compile(r"quota|credit|billing|insufficient|balance|status 402"), "quota"),
    (
        re.compile(
            r"(?:does not|doesn't|not) support(?:ed)?\b.*\b(?:tool|function)"
            r"|(?:tool|function)s?\b.*\bnot (?:be )?(?:supported|enabled|available)"
        ),
        "tools",
    ),
    (
        re.compile(
            r"model.*(?:not found|not exist|unknown|no access|decommission|deprecat)"
            r"|deployment.*not exist|(?:unknown|invalid|no such) model|status 404"
        ),
        "model",
    ),
    (re.compile(r"status 429|rate limit|too many requests"), "rate"),
)
"""What vendors write, in the order in which it decides: Google refuses a wrong key with 400."""


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
        match kind_of(error):
            case "key":
                return f"Put a valid key into {self.key}, or correct {self.address}."
            case "quota":
                return "The account's limit is used up: raise it at the vendor, or wait."
            case "rate":
                return "Too many requests for the account's limit: wait, or raise it at the vendor."
            case "tools":
                return f"Set {self.model} to a model that can call tools; answers need them."
            case "model":
                return f"Correct {self.model}, or the path in {self.address}."
        if isinstance(error, UpstreamRejected):
            return self.advice
        return f"See whether the service answers, and correct {self.address}."


USE_CALIBRATED = (
    "Set FOOTNOTE_CONFIDENCE_PROFILE=calibrated, or choose an embedder whose similarities are"
    " higher."
)


def kind_of(error: UpstreamError) -> str:
    """Which setting or limit a refusal is about; empty where it does not say."""
    said = f"{error} {error.vendor_reason}".lower()
    return next((kind for pattern, kind in REASONS if pattern.search(said)), "")


def reason_of(error: UpstreamError, secrets: Iterable[str]) -> str:
    """The vendor's own words, without the key that some of them repeat."""
    reason = " ".join(visible(error.vendor_reason).split())
    for secret in filter(None, secrets):
        reason = reason.replace(secret, "…")
    return f" It says: “{reason[:MAX_REASON]}”" if reason else ""


OPENAI_VECTORS = Access(
    key="OPENAI_API_KEY", address="OPENAI_BASE_URL", model="OPENAI_EMBEDDING_MODEL"
)
COHERE_VECTORS = Access(key="COHERE_API_KEY", address="CO_API_URL", model="COHERE_MODEL")
COHERE_RERANK = Access(key="COHERE_API_KEY", address="CO_API_URL", model="COHERE_RERANK_MODEL")


def of_models(settings: Settings, folder: Path, own: Embedder | None) -> Sequence[Check]:
    """`own` is the embedder of an open house: the local model is not loaded twice."""

    named = variables_of(settings.chat_model)
    access = Access(key=named.key, address=named.address, model=named.model)

    async def chat() -> Sequence[Finding]:
        key = endpoint_of(settings).api_key
        return [await probed("language model", access, chat_answers(settings), secrets=[key])]

    async def vectors() -> Sequence[Finding]:
        choice = await choice_in_use(settings, folder)
        of = COHERE_VECTORS if choice.runner == "cohere" else OPENAI_VECTORS
        opened = contextlib.nullcontext(own) if own else open_embedder(settings, choice)
        found = await probed("embedder", of, embeds(opened))
        if found.in_place and choice.is_outdated:
            advice = advice_on_renewal(settings, folder / INDEX_FOLDER)
            detail = f"{found.detail} The index was built with this former model and keeps it."
            return [warning("embedder", detail, advice)]
        return [found]

    async def reranking() -> Sequence[Finding]:
        return [await probed("reranker", COHERE_RERANK, reranks(settings))]

    checks = [
        Check(name="language model", look=chat, advice=access.advice),
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


async def probed(
    name: str, access: Access, answer: AsyncIterator[str], *, secrets: Iterable[str] = ()
) -> Finding:
    """What a small call says; a refusal names the variable to change, and the vendor's reason."""
    try:
        said = [each async for each in answer]
    except UpstreamError as error:
        return missing(name, f"{error}.{reason_of(error, secrets)}", access.advice_on(error))
    except ModelBehaviourError as error:
        return missing(name, str(error), access.advice)
    return in_place(name, said[0])


async def chat_answers(settings: Settings) -> AsyncIterator[str]:
    """One real call of a few tokens, with the tool that every answer needs."""
    if settings.chat_model == "quoting":
        yield "No language model: answers are quoted from the documents."
        return
    async with open_chat_model(settings, patience=LOOK_SECONDS / 2) as model:
        assert model is not None
        stream = model.stream(
            [Message.user("Look up what the documents say about help.", at=datetime.now(UTC))],
            tools=(RETRIEVE,),
            tool_choice=ToolChoice.REQUIRED,
            temperature=settings.agent_temperature,
            max_tokens=PROBE_TOKENS,
        )
        calls = False
        async for event in stream:
            calls |= isinstance(event, Finished) and bool(event.tool_calls)
        where = settings.openai_base_url or settings.azure_openai_endpoint or "its vendor's address"
        how = (
            "" if calls else ", without calling the tool: each question is searched as it is asked"
        )
        yield f"{model.name} answers at {where}{how}."


async def embeds(opened: contextlib.AbstractAsyncContextManager[Embedder]) -> AsyncIterator[str]:
    async with opened as embedder:
        vector = await embedder.embed_query("Is anybody there?")
        yield f"{embedder.model} gives {len(vector)} numbers."


async def reranks(settings: Settings) -> AsyncIterator[str]:
    async with open_reranker(settings) as reranker:
        if reranker is not None:
            await reranker.rerank("Is anybody there?", ["Yes.", "No."], top=1)
        yield f"{settings.cohere_rerank_model} answers."
