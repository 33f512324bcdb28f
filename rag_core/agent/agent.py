"""The shared agent: one question and its thread in, one answer that can be checked out."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from rag_core.agent.answer import AgentResponse
from rag_core.agent.budget import is_speech
from rag_core.agent.checks.guard import guarded
from rag_core.agent.confidence.inquiry import Inquiry
from rag_core.agent.confidence.judgement import Judgement
from rag_core.agent.confidence.profiles import ConfidenceProfile, profile_named
from rag_core.agent.config import AgentConfig
from rag_core.agent.context import question_meant
from rag_core.agent.courtesies import without_courtesies
from rag_core.agent.followup import earlier_questions, sought, standalone
from rag_core.agent.hints import StagesOnly, hinted, without_passages
from rag_core.agent.loop import Draft, Loop
from rag_core.agent.manner import Manner
from rag_core.agent.paste import essence
from rag_core.agent.phrases import phrases_for
from rag_core.agent.prompting import prompt_for, topic_summary
from rag_core.agent.prompts import is_refusal
from rag_core.agent.response import Report
from rag_core.agent.second_try import RESERVED_SECONDS, better, correction, is_worth_it
from rag_core.agent.smalltalk import is_too_short, small_talk
from rag_core.agent.teller import Teller
from rag_core.agent.tool import RetrievalTool, Searches, ToolBounds
from rag_core.agent.verification.check import AnswerCheck, CheckedText, PassageAnswer
from rag_core.books.audience import Audience
from rag_core.books.book import BookIds
from rag_core.conversation.message import Message
from rag_core.conversation.question import Question
from rag_core.conversation.state import ConversationState, Turn
from rag_core.desk.progress import Progress
from rag_core.errors import AnswerTimedOut, FootnoteError
from rag_core.ports import ChatModel, Verifier

log = logging.getLogger(__name__)

STANDALONE = "standalone"
"""Where a thread's metadata keeps its last question as it was understood."""

PLAIN = Manner()


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentAnswer:
    """An answer, and what it adds to its thread."""

    response: AgentResponse
    turn: Turn | None


def inquiry_into(asked: str, understood: str, state: ConversationState) -> Inquiry:
    """What is asked of the passages, by the question and its thread."""
    return Inquiry(
        text=essence(without_courtesies(asked)),
        understood=essence(understood),
        said=tuple(m.content for turn in state.turns for m in turn if is_speech(m)),
    )


class Agent:
    """Retrieves before it speaks, cites what it used, and says when the documents have nothing."""

    def __init__(
        self,
        *,
        model: ChatModel,
        retriever: Searches,
        config: AgentConfig,
        profile: ConfidenceProfile | None = None,
        verifier: Verifier | None = None,
        passage_answer: PassageAnswer | None = None,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._model = model
        self._retriever = retriever
        self._config = config
        self._profile = profile or profile_named(config.profile)
        self._check = AnswerCheck(verifier)
        self._passage_answer = passage_answer
        self._now = now
        self._loop = Loop(
            model=model, temperature=config.temperature, max_tokens=config.max_tokens, now=now
        )

    async def answer(
        self,
        question: Question,
        *,
        state: ConversationState,
        books: BookIds,
        audience: Audience | None,
        progress: Progress,
        locale: str = "en",
        manner: Manner = PLAIN,
    ) -> AgentAnswer:
        """The answer within its deadline, or one of the errors that name who must act."""
        asked = question_meant(question)
        report = Report(
            question=question,
            state=state,
            model=self._model.name,
            phrases=phrases_for(asked, locale),
            began=time.perf_counter(),
            asked_at=self._now(),
            now=self._now,
            manner=manner,
        )
        bounds = self._bounds(question, books, audience)
        told = StagesOnly(progress) if manner.hint_only else progress
        try:
            async with asyncio.timeout(self._config.answer_seconds) as deadline:
                async with Teller(told, checking=report.phrases.checking) as teller:
                    return await self._answer(asked, state, bounds, report, teller)
        except TimeoutError as error:
            if not deadline.expired():
                raise
            raise AnswerTimedOut("The answer was not ready in time.") from error

    async def _answer(
        self,
        asked: str,
        state: ConversationState,
        bounds: ToolBounds,
        report: Report,
        teller: Teller,
    ) -> AgentAnswer:
        talk = small_talk(asked)
        if talk is not None:
            response = report.small_talk(talk.reply(report.phrases))
            return AgentAnswer(response=response, turn=self._turn(response, report))
        if is_too_short(asked):
            response = report.too_short()
            return AgentAnswer(response=response, turn=self._turn(response, report))
        understood = standalone(
            without_courtesies(asked),
            state.turns,
            carried=str(state.metadata.get(STANDALONE, "")),
        )
        return await self._researched(asked, understood, state, bounds, report, teller)

    async def _researched(
        self,
        asked: str,
        understood: str,
        state: ConversationState,
        bounds: ToolBounds,
        report: Report,
        teller: Teller,
    ) -> AgentAnswer:
        tool = self._tool(asked, understood, state, bounds)
        judgement = Judgement(self._profile, inquiry_into(asked, understood, state), tool)
        prompt = prompt_for(
            report.manner.over(self._config),
            state,
            understood,
            at=self._now(),
            context=report.question.context,
        )
        draft = await self._loop.run(prompt, tool=tool, suffices=judgement.suffices, teller=teller)
        text = await self._checked(draft, tool, understood, report)
        if self._may_rewrite(draft, text, report):
            text, draft = await self._rewritten(prompt, draft, text, tool, report, teller)
        if draft.text and not text.text and self._passage_answer is not None:
            text = self._passage_answer(tool.context, text)
        response = report.researched(
            text=text,
            tool=tool,
            metrics=judgement.metrics,
            profile=self._profile,
            tokens=draft.tokens,
        )
        if report.manner.hint_only:
            response = without_passages(response)
        turn = self._turn(response, report, tool=tool, draft=draft, understood=understood)
        return AgentAnswer(response=response, turn=turn)

    def _tool(
        self, asked: str, understood: str, state: ConversationState, bounds: ToolBounds
    ) -> RetrievalTool:
        return RetrievalTool(
            retriever=self._retriever,
            bounds=bounds,
            now=self._now,
            earlier=earlier_questions(state.turns),
            sought={understood: essence(sought(without_courtesies(asked), understood))},
        )

    async def _checked(
        self, draft: Draft, tool: RetrievalTool, understood: str, report: Report
    ) -> CheckedText:
        """The third wall: what of the draft its evidence supports, or what of it is a hint."""
        if not draft.text or is_refusal(draft.text):
            return CheckedText(text="")
        if report.manner.hint_only:
            return hinted(
                guarded(draft.text),
                tool.context,
                asked=report.question.message,
                phrases=report.phrases,
            )
        return await self._check.check(
            guarded(draft.text),
            tool.context,
            question=understood,
            phrases=report.phrases,
            seconds=self._seconds_left(report) - RESERVED_SECONDS,
        )

    def _may_rewrite(self, draft: Draft, text: CheckedText, report: Report) -> bool:
        return (
            self._config.rewrites
            and not report.manner.hint_only
            and is_worth_it(draft.text, text, seconds_left=self._seconds_left(report))
        )

    async def _rewritten(
        self,
        prompt: Sequence[Message],
        draft: Draft,
        text: CheckedText,
        tool: RetrievalTool,
        report: Report,
        teller: Teller,
    ) -> tuple[CheckedText, Draft]:
        """The better of the first and the second try; when the second fails, the first stands."""
        try:
            async with asyncio.timeout(self._seconds_left(report) - RESERVED_SECONDS):
                again = await self._loop.rewritten(
                    prompt,
                    draft,
                    correction(draft.text, text.faults, at=self._now()),
                    tool=tool,
                    teller=teller,
                )
        except (TimeoutError, FootnoteError) as error:
            log.info("a draft was not written again", extra={"cause": type(error).__name__})
            return text, draft
        checked_again = await self._checked(again, tool, prompt[-1].content, report)
        return better(text, checked_again), again

    def _seconds_left(self, report: Report) -> float:
        return self._config.answer_seconds - (time.perf_counter() - report.began)

    def _bounds(self, question: Question, books: BookIds, audience: Audience | None) -> ToolBounds:
        threshold = question.similarity_threshold
        return ToolBounds(
            books=books,
            audience=audience,
            filters=question.filters,
            top_k=question.top_k or self._config.top_k,
            most=question.top_k,
            similarity_threshold=self._config.score_threshold if threshold is None else threshold,
            evidence_tokens=self._config.prompt_tokens // 2,
        )

    def _turn(
        self,
        response: AgentResponse,
        report: Report,
        *,
        tool: RetrievalTool | None = None,
        draft: Draft | None = None,
        understood: str = "",
    ) -> Turn:
        """What the thread remembers: the question as asked, what was looked up, the answer."""
        asked = report.question.message
        messages = (
            Message.user(asked, at=report.asked_at),
            *(draft.spoken if draft else ()),
            Message.assistant(
                response.answer, at=response.created_at, confidence=response.confidence
            ),
        )
        return Turn(
            session_id=report.state.session_id,
            messages=messages,
            retrievals=tool.records if tool else (),
            topic_summary=topic_summary(report.state, understood or asked),
            metadata={STANDALONE: understood} if understood else {},
        )
