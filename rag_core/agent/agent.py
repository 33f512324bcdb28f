"""The shared agent: one question and its thread in, one answer that can be checked out."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from rag_core.agent.answer import AgentResponse
from rag_core.agent.catalog import DescribesDocuments, Documents
from rag_core.agent.checks.guard import guarded
from rag_core.agent.confidence.judgement import Judge, Judged
from rag_core.agent.confidence.level import ConfidenceMetrics
from rag_core.agent.confidence.profiles import profile_named
from rag_core.agent.confidence.verified import after_checks
from rag_core.agent.config import AgentConfig
from rag_core.agent.context import pasted_error, question_meant
from rag_core.agent.followup import earlier_questions, last_question, search_text
from rag_core.agent.hints import StagesOnly, hinted, without_passages
from rag_core.agent.loop import Draft, Loop
from rag_core.agent.manner import Manner
from rag_core.agent.passages import NAME, PassageAnswerer
from rag_core.agent.phrases import phrases_for
from rag_core.agent.prompting import UNDESCRIBED, prompt_for, topic_summary
from rag_core.agent.prompts import NOT_COVERED, split_uncovered
from rag_core.agent.refusal import refuses, with_uncovered
from rag_core.agent.response import Report
from rag_core.agent.second_try import RESERVED_SECONDS, better, correction, is_worth_it
from rag_core.agent.smalltalk import is_too_short, small_talk
from rag_core.agent.teller import Teller
from rag_core.agent.tool import RetrievalTool, Searches, ToolBounds
from rag_core.agent.verification.check import AnswerCheck, CheckedText
from rag_core.books.audience import Audience
from rag_core.books.book import BookIds
from rag_core.conversation.message import Message
from rag_core.conversation.question import Question
from rag_core.conversation.state import ConversationState, Turn
from rag_core.desk.progress import Progress
from rag_core.errors import AnswerTimedOut, FootnoteError
from rag_core.ports import ChatModel, Verifier
from rag_core.reading.estimate import Estimate
from rag_core.reading.words import WordReader
from rag_core.retrieval.context import RetrievalContext
from rag_core.retrieval.whereabouts import whereabouts

log = logging.getLogger(__name__)

STANDALONE = "standalone"
"""Where a thread's metadata keeps its last question as it was understood."""

SECTION = "section"
"""Where it keeps the section that was cited first."""
ESTIMATE = "estimate"
"""Where it keeps what the last question's confidence was estimated from."""
EVIDENCE = "evidence"
"""Where it keeps what was measured on the passages of the last answer."""

PLAIN = Manner()


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentAnswer:
    """An answer, and what it adds to its thread."""

    response: AgentResponse
    turn: Turn | None


def untrained_judge(config: AgentConfig) -> Judge:
    """Judges by the words of the question alone."""
    reader = WordReader()
    estimate = Estimate.shipped(embedder="", reader=reader.name)
    return Judge(reader=reader, profile=profile_named(config.profile, estimate))


def loop_of(model: ChatModel, config: AgentConfig, now: Callable[[], datetime]) -> Loop:
    return Loop(model=model, temperature=config.temperature, max_tokens=config.max_tokens, now=now)


def evidence_of(context: RetrievalContext, measured: ConfidenceMetrics) -> dict[str, object]:
    """What an answer's confidence was judged by, for whoever asks how it came about."""
    return {
        "average_similarity": measured.average_similarity,
        "min_similarity": measured.min_similarity,
        "max_similarity": measured.max_similarity,
        "num_chunks": measured.num_chunks,
        "chunk_diversity": measured.chunk_diversity,
        "has_relevant_results": context.has_relevant_results,
        "has_sufficient_context": context.has_sufficient_context,
    }


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
        model: ChatModel | None,
        retriever: Searches,
        config: AgentConfig,
        judge: Judge | None = None,
        verifier: Verifier | None = None,
        catalog: DescribesDocuments | None = None,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._model = model
        self._retriever = retriever
        self._config = config
        self._judge = judge or untrained_judge(config)
        self._check = AnswerCheck(verifier)
        self._catalog = catalog
        self._now = now
        self._passages = PassageAnswerer(judge=self._judge, now=now)
        self._loop = None if model is None else loop_of(model, config, now)

    @property
    def signature(self) -> str:
        """The name of the model that writes, or what stands for quoting."""
        return NAME if self._model is None else self._model.name

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
            model=self.signature,
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
                async with Teller(
                    told, checking="" if self._loop is None else report.phrases.checking
                ) as teller:
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
        if self._loop is None:
            return await self._quoted(asked, sought, state, bounds, report, teller)
        return await self._researched(self._loop, sought, state, bounds, report, teller)

    async def _quoted(
        self,
        asked: str,
        sought: str,
        state: ConversationState,
        bounds: ToolBounds,
        report: Report,
        teller: Teller,
    ) -> AgentAnswer:
        """Without a language model the answer is the passage. A follow-up is asked in its own words
        and with what it leans on: what the documents answer better counts."""
        ways = [asked] if sought == asked else [asked, sought]
        tried = []
        for way in ways:
            tool = self._tool(way, state, bounds)
            quoted = await self._passages.answer(
                way, own=asked, tool=tool, report=report, teller=teller
            )
            tried.append((quoted, tool, way))
        quoted, tool, way = max(tried, key=lambda each: each[0].judged.confidence)
        response = quoted.response
        if response.should_answer:
            teller.begin_text(frozenset(note.number for note in response.citations))
            teller.text(response.answer)
        if report.manner.hint_only:
            response = without_passages(response)
        turn = self._turn(
            response,
            report,
            tool=tool,
            spoken=quoted.spoken,
            sought=way,
            judged=quoted.judged,
        )
        return AgentAnswer(response=response, turn=turn)

    async def _researched(
        self,
        loop: Loop,
        sought: str,
        state: ConversationState,
        bounds: ToolBounds,
        report: Report,
        teller: Teller,
    ) -> AgentAnswer:
        """With a language model: it searches and writes, every sentence is checked, and what fails
        is sent back once."""
        tool = self._tool(sought, state, bounds)
        prompt = prompt_for(
            report.manner.over(self._config),
            state,
            report.question.message,
            at=self._now(),
            documents=await self._described(bounds.books),
            context=report.question.context,
        )
        draft = await loop.run(prompt, question=sought, tool=tool, teller=teller)
        text = await self._checked(draft, tool, sought, report)
        if self._may_rewrite(draft, text, report):
            text, draft = await self._rewritten(
                loop, prompt, draft, text, tool, sought, report, teller
            )
        queries = [record.query for record in tool.records]
        judged = await self._judge.best_of([sought, *queries], tool.context.results)
        if text.removed and not text.text and judged.metrics.should_answer:
            text = await self._quoted_instead(text, sought, tool, report)
        is_whole = not text.faults and NOT_COVERED not in draft.text
        metrics = judged.metrics
        if metrics.num_chunks:
            metrics = after_checks(metrics, self._judge.profile, is_whole=is_whole)
        response = report.researched(
            text=text,
            tool=tool,
            metrics=metrics,
            profile=self._judge.profile,
            tokens=draft.tokens + text.tokens,
        )
        if report.manner.hint_only:
            response = without_passages(response)
        turn = self._turn(
            response, report, tool=tool, spoken=draft.spoken, sought=sought, judged=judged
        )
        return AgentAnswer(response=response, turn=turn)

    async def _described(self, books: BookIds) -> Documents:
        return await self._catalog.describe(books) if self._catalog else UNDESCRIBED

    def _evidence(self, tool: RetrievalTool, judged: Judged) -> dict[str, object]:
        context = tool.context.judged(
            floor=self._judge.profile.floor, suffices=judged.metrics.suffices
        )
        return evidence_of(context, judged.metrics)

    def _tool(self, question: str, state: ConversationState, bounds: ToolBounds) -> RetrievalTool:
        return RetrievalTool(
            retriever=self._retriever,
            bounds=bounds,
            now=self._now,
            question=question,
            earlier=earlier_questions(state.turns),
        )

    async def _checked(
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
        text = await self._check.check(
            guarded(reply),
            tool.context,
            question=sought,
            phrases=report.phrases,
            seconds=self._seconds_left(report) - RESERVED_SECONDS,
        )
        return with_uncovered(text, uncovered, report.phrases, asked=report.question.message)

    async def _quoted_instead(
        self, text: CheckedText, sought: str, tool: RetrievalTool, report: Report
    ) -> CheckedText:
        """The passages themselves, where nothing of the draft stands."""
        quoted = await self._passages.quote(sought, tool.context, report.phrases)
        return replace(text, text=quoted.text, citations=quoted.citations, marks=quoted.marks)

    def _may_rewrite(self, draft: Draft, text: CheckedText, report: Report) -> bool:
        return (
            self._config.rewrites
            and not report.manner.hint_only
            and is_worth_it(draft.text, text, seconds_left=self._seconds_left(report))
        )

    async def _rewritten(
        self,
        loop: Loop,
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
                again = await loop.rewritten(
                    prompt,
                    draft,
                    correction(draft.text, text.faults, at=self._now()),
                    tool=tool,
                    teller=teller,
                )
        except (TimeoutError, FootnoteError) as error:
            log.info("a draft was not written again", extra={"cause": type(error).__name__})
            return text, draft
        checked_again = await self._checked(again, tool, sought, report)
        chosen = better(text, checked_again)
        return replace(chosen, tokens=text.tokens + checked_again.tokens), again

    def _seconds_left(self, report: Report) -> float:
        return self._config.answer_seconds - (time.perf_counter() - report.began)

    def _bounds(self, question: Question, books: BookIds, audience: Audience | None) -> ToolBounds:
        threshold = question.similarity_threshold
        return ToolBounds(
            books=books,
            audience=audience,
            filters=question.filters,
            top_k=question.top_k or self._config.top_k,
            similarity_threshold=self._config.score_threshold if threshold is None else threshold,
            evidence_tokens=self._config.prompt_tokens // 2,
        )

    def _turn(
        self,
        response: AgentResponse,
        report: Report,
        *,
        tool: RetrievalTool | None = None,
        spoken: Sequence[Message] = (),
        sought: str = "",
        judged: Judged | None = None,
    ) -> Turn:
        """What the thread remembers: the question as asked, what was looked up, the answer."""
        asked = report.question.message
        messages = (
            Message.user(asked, at=report.asked_at),
            *spoken,
            Message.assistant(
                response.answer, at=response.created_at, confidence=response.confidence
            ),
        )
        return Turn(
            session_id=report.state.session_id,
            messages=messages,
            retrievals=tool.records if tool else (),
            topic_summary=topic_summary(report.state, sought or asked),
            metadata={
                **({STANDALONE: sought, SECTION: cited_section(response)} if sought else {}),
                **({ESTIMATE: judged.document()} if judged else {}),
                EVIDENCE: self._evidence(tool, judged) if tool and judged else None,
            },
        )
