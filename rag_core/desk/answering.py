"""From a claimed question to an answer, whatever happens on the way."""

from __future__ import annotations

import logging
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Protocol
from uuid import UUID

from rag_core.agent.answer import AgentResponse, ErrorKind
from rag_core.agent.checks.guard import GuardedText, guarded
from rag_core.agent.manner import Manner
from rag_core.agent.phrases import phrases_in
from rag_core.books.audience import Audience
from rag_core.books.book import BookIds
from rag_core.books.bounds import bounded, reader_of
from rag_core.books.policy import ChannelPolicy
from rag_core.books.rules import KnowsRules
from rag_core.conversation.question import Question
from rag_core.conversation.state import ConversationState, Turn
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.notices import notices_in
from rag_core.desk.outgoing import OpenQuestion
from rag_core.desk.progress import Progress
from rag_core.desk.summaries import SummaryWriter
from rag_core.desk.unanswered import kind_of, unanswered
from rag_core.errors import FootnoteError, LedgerConflict, NoBookChosen, StorageError
from rag_core.ports import ConversationStore
from rag_core.retrieval.query import Filters, no_such_module

log = logging.getLogger(__name__)

MAX_TITLE = 80

Apologise = Callable[[BaseException, str], GuardedText]
"""An error and a locale → one plain sentence for the asker."""


class AgentAnswer(Protocol):
    """What the agent hands back."""

    @property
    def response(self) -> AgentResponse: ...

    @property
    def turn(self) -> Turn | None: ...


class AnsweringAgent(Protocol):
    """The agent, as the desk sees it."""

    async def answer(
        self,
        question: Question,
        *,
        state: ConversationState,
        books: BookIds,
        audience: Audience | None,
        progress: Progress,
        locale: str,
        manner: Manner,
    ) -> AgentAnswer: ...


class KnowsRepeats(Protocol):
    """Whoever knows what was asked before."""

    async def told(
        self,
        question_id: UUID,
        question: IncomingQuestion,
        response: AgentResponse,
        turn: Turn | None,
        books: BookIds,
    ) -> AgentResponse: ...


class KnowsModules(Protocol):
    """Whoever knows the modules of books, as the retriever does."""

    async def modules(self, *, books: BookIds, filters: Filters) -> Sequence[str]: ...


class Answering:
    """Loads the thread, asks the agent, and turns what goes wrong into a sentence."""

    def __init__(
        self,
        *,
        agent: AnsweringAgent,
        conversations: ConversationStore,
        library: KnowsRules,
        apologise: Apologise,
        model: str,
        max_turns: int,
        repeats: KnowsRepeats | None = None,
        modules: KnowsModules | None = None,
        summaries: SummaryWriter | None = None,
    ) -> None:
        self._summaries = summaries
        self._modules = modules
        self._repeats = repeats
        self._agent = agent
        self._conversations = conversations
        self._library = library
        self._apologise = apologise
        self._model = model
        self._max_turns = max_turns

    async def answer(
        self, claim: OpenQuestion, progress: Progress
    ) -> tuple[AgentResponse, Turn | None]:
        state = await self._thread(claim)
        try:
            answered = await self._ask(claim, state, progress)
        except (LedgerConflict, StorageError):
            raise
        except FootnoteError as error:
            log.warning(
                "question not answered",
                extra={"question_id": str(claim.question_id), "cause": type(error).__name__},
            )
            return self._apology(claim, state, error), None
        except Exception as error:
            log.exception("question met a defect", extra={"question_id": str(claim.question_id)})
            return self._apology(claim, state, error), None
        response = announced(answered[0], state, claim.question)
        turn = signed(answered[1], state, claim.question)
        if self._summaries is not None:
            self._summaries.answered(state, turn)
        return response, turn

    async def give_up(
        self, claim: OpenQuestion, reason: BaseException | None = None
    ) -> AgentResponse:
        """The apology for a question that was begun too often, or for too long, without an end."""
        begun_too_often = RuntimeError("begun too often without coming to an end")
        return self._apology(claim, await self._thread(claim), reason or begun_too_often)

    async def decline(self, claim: OpenQuestion) -> AgentResponse:
        """The notice for a question that met a bound; nothing was asked of the agent."""
        assert claim.refusal is not None
        notices, retry_at = notices_in(claim.question.locale), claim.question.retry_at
        notice = guarded(notices.of(claim.refusal, retry_at=retry_at))
        return self._unanswered(claim, await self._thread(claim), notice)

    async def _thread(self, claim: OpenQuestion) -> ConversationState:
        return await self._conversations.open(
            claim.question.key,
            model=self._model,
            max_turns=self._max_turns,
            session_id=claim.question.question.session_id,
        )

    async def _ask(
        self, claim: OpenQuestion, state: ConversationState, progress: Progress
    ) -> tuple[AgentResponse, Turn | None]:
        """The agent's answer within what the place's policy allows."""
        question = claim.question
        rules = await self._library.rules_for(
            platform=question.key.platform,
            tenant=question.key.tenant,
            channel_id=question.key.channel_id,
            category_id=question.category_id,
        )
        policy, books = rules.policy, question.books or rules.books
        if books is None:
            raise NoBookChosen(rules.missing)
        filters = await self._filters(question, policy, books)
        answered = await self._agent.answer(
            replace(question.question, filters=filters),
            state=state,
            books=books,
            audience=rules.audience,
            progress=progress,
            locale=question.locale,
            manner=Manner(
                hint_only=policy.hint_only or False,
                tone=policy.tone or "",
                reader=reader_of(policy, question.reader),
            ),
        )
        return await self._told(claim, answered, books)

    async def _filters(
        self, question: IncomingQuestion, policy: ChannelPolicy, books: BookIds
    ) -> Filters:
        """What the place allows of what was asked for. A module that has nothing released for this
        place is refused like one that is not there."""
        asked, reader, now = question.question.filters, question.reader, datetime.now(UTC)
        if asked.module is None or self._modules is None:
            return bounded(asked, policy, reader=reader, at=now)
        allowed = bounded(replace(asked, module=None), policy, reader=reader, at=now)
        known = await self._modules.modules(books=books, filters=allowed)
        if asked.module not in known:
            raise no_such_module(asked.module, known)
        return replace(allowed, module=asked.module)

    async def _told(
        self, claim: OpenQuestion, answered: AgentAnswer, books: BookIds
    ) -> tuple[AgentResponse, Turn | None]:
        """The answer, with the thread in which the same was asked before."""
        response, turn = answered.response, answered.turn
        if self._repeats is not None:
            response = await self._repeats.told(
                claim.question_id, claim.question, response, turn, books
            )
        return response, turn

    def _apology(
        self, claim: OpenQuestion, state: ConversationState, error: BaseException
    ) -> AgentResponse:
        sentence = self._apologise(error, claim.question.locale)
        return self._unanswered(claim, state, sentence, kind=kind_of(error))

    def _unanswered(
        self,
        claim: OpenQuestion,
        state: ConversationState,
        sentence: GuardedText,
        *,
        kind: ErrorKind | None = None,
    ) -> AgentResponse:
        return unanswered(
            claim.question,
            sentence,
            session_id=state.session_id,
            model=self._model,
            kind=kind,
        )


def announced(
    response: AgentResponse, state: ConversationState, question: IncomingQuestion
) -> AgentResponse:
    """The answer; the first one of a session that follows another says so, and so does one to a
    message that was split into question and paste."""
    phrases = phrases_in(question.locale)
    before = [phrases.afresh] if state.session_number > 1 and not state.turn_count else []
    if question.original_length:
        before.append(
            phrases.split.format(
                length=question.original_length, question=short(question.question.message)
            )
        )
    if not before:
        return response
    return replace(response, answer=guarded("\n\n".join((*before, response.answer))))


def signed(turn: Turn | None, state: ConversationState, question: IncomingQuestion) -> Turn | None:
    """The turn, with who asked; the first one names its thread in lists."""
    if turn is None:
        return None
    title = state.metadata.get("title") or short(question.question.message)
    added = {"last_asker_id": question.asker_id, "title": title}
    return replace(turn, metadata={**turn.metadata, **added})


def short(message: str) -> str:
    return textwrap.shorten(message, MAX_TITLE, placeholder="…")
