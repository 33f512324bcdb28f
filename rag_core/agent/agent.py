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
from rag_core.agent.catalog import DescribesDocuments, Documents
from rag_core.agent.checks.citations import CheckedText, checked
from rag_core.agent.checks.guard import guarded
from rag_core.agent.checks.support import Evidence
from rag_core.agent.confidence.inquiry import Inquiry
from rag_core.agent.confidence.judgement import Judgement
from rag_core.agent.confidence.level import ConfidenceMetrics
from rag_core.agent.confidence.profiles import ConfidenceProfile, profile_named
from rag_core.agent.confidence.verified import after_checks
from rag_core.agent.config import AgentConfig
from rag_core.agent.context import pasted_error, question_meant
from rag_core.agent.followup import earlier_questions, last_question, search_text
from rag_core.agent.hints import StagesOnly, hinted, without_passages
from rag_core.agent.loop import Draft, Loop, search_for
from rag_core.agent.manner import Manner
from rag_core.agent.phrases import phrases_for
from rag_core.agent.prompting import UNDESCRIBED, prompt_for, topic_summary
from rag_core.agent.prompts import NOT_COVERED, split_uncovered
from rag_core.agent.refusal import refuses, with_uncovered
from rag_core.agent.response import Report
from rag_core.agent.second_try import RESERVED_SECONDS, better, correction, is_worth_it
from rag_core.agent.smalltalk import is_too_short, small_talk
from rag_core.agent.teller import Teller
from rag_core.agent.tool import RetrievalTool, Searches, ToolBounds
from rag_core.books.audience import Audience
from rag_core.books.book import BookIds
from rag_core.conversation.message import Message
from rag_core.conversation.question import Question
from rag_core.conversation.state import ConversationState, Turn
from rag_core.desk.progress import Progress
from rag_core.errors import AnswerTimedOut, FootnoteError
from rag_core.ports import ChatModel
from rag_core.retrieval.whereabouts import whereabouts

log = logging.getLogger(__name__)

QUOTES = "quoting"
"""The model that writes nothing of its own."""
STANDALONE, SECTION = "standalone", "section"
"""Where a thread's metadata keeps what was searched for last, and the section cited for it."""

PLAIN = Manner()


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentAnswer:
    """An answer, and what it adds to its thread."""

    response: AgentResponse
    turn: Turn | None


def inquiry_into(asked: str, sought: str, state: ConversationState) -> Inquiry:
    """What is asked of the passages, by the question and its thread."""
    return Inquiry(
        text=asked,
        understood=sought,
        said=tuple(m.content for turn in state.turns for m in turn if is_speech(m)),
    )


def cited_section(response: AgentResponse) -> str:
    """The section that an answer rests on first, which a follow-up leads on from."""
    if not response.citations:
        return ""
    first = response.citations[0]
    return whereabouts(first.page_title, first.section_heading)


class Agent:
    """Retrieves before it speaks, cites what it used, and says when the documents have nothing."""

    def __init__(
        self,
        *,
        model: ChatModel,
        retriever: Searches,
        config: AgentConfig,
        profile: ConfidenceProfile | None = None,
        catalog: DescribesDocuments | None = None,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._model = model
        self._retriever = retriever
        self._config = config
        self._profile = profile or profile_named(config.profile)
        self._catalog = catalog
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
                async with Teller(told) as teller:
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
        sought = search_text(
            asked,
            last=str(state.metadata.get(STANDALONE, "")) or last_question(state.turns),
            section=str(state.metadata.get(SECTION, "")),
            error=pasted_error(report.question.context),
        )
        if self._quotes and sought != asked:
            found = [await self._promises(text, state, bounds) for text in (asked, sought)]
            sought = sought if found[1] > found[0] else asked
        return await self._researched(asked, sought, state, bounds, report, teller)

    async def _promises(self, text: str, state: ConversationState, bounds: ToolBounds) -> float:
        """How sure an answer would be that is searched for by these words."""
        tool = self._tool(state, bounds)
        tool.number(await tool.search(search_for(text).arguments))
        return Judgement(self._profile, inquiry_into(text, text, state), tool).metrics.confidence

    async def _researched(
        self,
        asked: str,
        sought: str,
        state: ConversationState,
        bounds: ToolBounds,
        report: Report,
        teller: Teller,
    ) -> AgentAnswer:
        tool = self._tool(state, bounds)
        judgement = Judgement(self._profile, inquiry_into(asked, sought, state), tool)
        prompt = prompt_for(
            report.manner.over(self._config),
            state,
            sought if self._quotes else report.question.message,
            at=self._now(),
            documents=await self._described(bounds.books),
            context=report.question.context,
        )
        draft = await self._loop.run(
            prompt,
            question=sought,
            tool=tool,
            suffices=judgement.suffices if self._quotes else lambda: bool(tool.context.results),
            teller=teller,
        )
        text = self._checked(draft, tool, sought, report)
        if self._may_rewrite(draft, text, report):
            text, draft = await self._rewritten(prompt, draft, text, tool, sought, report, teller)
        response = report.researched(
            text=text,
            tool=tool,
            metrics=self._metrics(judgement, draft, text),
            profile=self._profile,
            tokens=draft.tokens,
        )
        if report.manner.hint_only:
            response = without_passages(response)
        turn = self._turn(response, report, tool=tool, draft=draft, sought=sought)
        return AgentAnswer(response=response, turn=turn)

    @property
    def _quotes(self) -> bool:
        """Whether there is no language model: then the evidence alone decides."""
        return self._model.name == QUOTES

    async def _described(self, books: BookIds) -> Documents:
        return await self._catalog.describe(books) if self._catalog else UNDESCRIBED

    def _tool(self, state: ConversationState, bounds: ToolBounds) -> RetrievalTool:
        return RetrievalTool(
            retriever=self._retriever,
            bounds=bounds,
            now=self._now,
            earlier=earlier_questions(state.turns),
        )

    def _metrics(self, judgement: Judgement, draft: Draft, text: CheckedText) -> ConfidenceMetrics:
        """The evidence, judged by the best of the question and the model's own queries; what the
        model wrote of it then decides whether there is a caution."""
        if self._quotes or not judgement.metrics.num_chunks:
            return judgement.metrics
        best = max(
            (judgement.metrics, *map(judgement.by_query, judgement.queries)),
            key=lambda metrics: metrics.confidence,
        )
        is_whole = not text.struck and NOT_COVERED not in draft.text
        return after_checks(best, self._profile, is_whole=is_whole)

    def _checked(
        self, draft: Draft, tool: RetrievalTool, sought: str, report: Report
    ) -> CheckedText:
        """The third wall: what of the draft its evidence supports, or what of it is a hint."""
        reply, uncovered = split_uncovered(draft.text)
        if not reply:
            return CheckedText(text="")
        found = tool.context.results
        is_refusal = refuses(
            reply,
            question=f"{sought} {report.question.message}",
            ranks=frozenset(range(1, len(found) + 1)),
            evidence=(result.text for result in found),
        )
        if is_refusal and not (report.manner.hint_only and "?" in reply):
            return CheckedText(text="")
        if report.manner.hint_only:
            return hinted(
                guarded(reply),
                tool.context,
                asked=report.question.message,
                phrases=report.phrases,
            )
        text = checked(guarded(reply), Evidence(tool.context, question=sought))
        return with_uncovered(text, uncovered, report.phrases, asked=report.question.message)

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
        sought: str,
        report: Report,
        teller: Teller,
    ) -> tuple[CheckedText, Draft]:
        """The better of the first and the second try; when the second fails, the first stands."""
        try:
            async with asyncio.timeout(self._seconds_left(report) - RESERVED_SECONDS):
                again = await self._loop.rewritten(
                    prompt,
                    draft,
                    correction(draft.text, text.struck, at=self._now()),
                    tool=tool,
                    teller=teller,
                )
        except (TimeoutError, FootnoteError) as error:
            log.info("a draft was not written again", extra={"cause": type(error).__name__})
            return text, draft
        checked_again = self._checked(again, tool, sought, report)
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
        sought: str = "",
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
            topic_summary=topic_summary(report.state, sought or asked),
            metadata={STANDALONE: sought, SECTION: cited_section(response)} if sought else {},
        )
