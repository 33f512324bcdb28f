"""The way of a question where there is no language model: search, read, quote what answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from rag_core.agent.answer import AgentResponse
from rag_core.agent.confidence.judgement import Judge, Judged
from rag_core.agent.confidence.level import ConfidenceLevel
from rag_core.agent.confidence.profiles import measured
from rag_core.agent.hints import hinted
from rag_core.agent.loop import search_for
from rag_core.agent.phrases import Phrases
from rag_core.agent.response import Report
from rag_core.agent.teller import Teller
from rag_core.agent.tool import RetrievalTool
from rag_core.agent.verification.check import CheckedText
from rag_core.conversation.message import Message
from rag_core.desk.progress import QuestionState
from rag_core.reading.passage_answer import (
    Asked,
    PassageAnswer,
    nearest_sections,
    passage_answer,
)
from rag_core.retrieval.context import RetrievalContext

NAME = "quoting"
"""What answers are signed with in the place of a language model's name."""
QUESTION_END = re.compile(r"(?<=[?？؟])\s+(?=\S)")
MOST_QUESTIONS = 3
LEAST_LETTERS = 8
"""`Right?` behind a question is no question of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoted:
    """The answer, and the searches that led to it as the thread remembers them."""

    response: AgentResponse
    spoken: tuple[Message, ...]
    judged: Judged


def questions_in(message: str) -> tuple[str, ...]:
    """The questions of a message; one that asks a single thing is one."""
    pieces = [piece.strip() for piece in QUESTION_END.split(message) if piece.strip()]
    *asking, last = pieces or [message]
    if not last.endswith(("?", "？", "؟")) and asking:
        last = f"{asking.pop()} {last}"
    asking.append(last)
    are_questions = all(sum(map(str.isalnum, one)) >= LEAST_LETTERS for one in asking)
    return tuple(asking) if 1 < len(asking) <= MOST_QUESTIONS and are_questions else (message,)


class PassageAnswerer:
    """Quotes the sections that answer; where none surely does, it shows the nearest ones."""

    def __init__(self, *, judge: Judge, now: Callable[[], datetime]) -> None:
        self._judge = judge
        self._now = now

    async def answer(
        self, asked: str, *, own: str, tool: RetrievalTool, report: Report, teller: Teller
    ) -> Quoted:
        """`own`: what the asker wrote, where a follow-up is asked with what it leans on."""
        teller.stage(QuestionState.RETRIEVING)
        judged: list[Judged] = []
        spoken: list[Message] = []
        questions = questions_in(asked) if asked == own else (asked,)
        for place, question in enumerate(questions):
            call = search_for(question)
            search = await tool.search(call.arguments, earlier=questions[:place])
            response = tool.number(search)
            result = response.as_json()
            spoken += (
                Message.assistant("", at=self._now(), tool_calls=(call,)),
                Message.tool(result, name=call.name, tool_call_id=call.id, at=self._now()),
            )
            ranks = [passage.rank for passage in response.results]
            found = [tool.context[rank] for rank in ranks]
            judged.append(
                await self._judge.judge(question, found, own=own if question == asked else "")
            )
        teller.stage(QuestionState.GENERATING)
        best = max(judged, key=lambda each: each.confidence)
        answer = self._response(judged, best, tool, report)
        return Quoted(response=answer, spoken=tuple(spoken), judged=best)

    async def quote(
        self, question: str, context: RetrievalContext, phrases: Phrases
    ) -> PassageAnswer:
        """The passages themselves, where nothing of a model's draft stands although they are
        good."""
        judged = await self._judge.judge(question, context.results)
        return passage_answer([asked_of(judged)], phrases)

    def _response(
        self, judged: Sequence[Judged], best: Judged, tool: RetrievalTool, report: Report
    ) -> AgentResponse:
        answer = written(judged, report)
        text = CheckedText(text=answer.text, citations=answer.citations)
        if report.manner.hint_only and answer.text:
            ranks = {note.chunk_id for note in answer.citations}
            cited = "".join(f"[{r.rank}]" for r in tool.context.results if r.chunk_id in ranks)
            text = hinted(
                cited, tool.context, asked=report.question.message, phrases=report.phrases
            )
        response = report.researched(
            text=text,
            tool=tool,
            metrics=measured(tool.context.results, best.level, best.confidence),
            profile=self._judge.profile,
            tokens=0,
        )
        marks = () if report.manner.hint_only or not response.should_answer else answer.marks
        return replace(response, marks=marks)


def written(judged: Sequence[Judged], report: Report) -> PassageAnswer:
    """What is quoted: the answers, or what comes nearest, or nothing."""
    sure = [each for each in judged if each.is_sure]
    if sure:
        open_questions = [
            each.question for each in judged if each.level is ConfidenceLevel.INSUFFICIENT
        ]
        return passage_answer(map(asked_of, sure), report.phrases, open_questions=open_questions)
    near = [each for each in judged if each.level is ConfidenceLevel.LOW]
    return nearest_sections(map(asked_of, near), report.phrases)


def asked_of(judged: Judged) -> Asked:
    return Asked(question=judged.question, sections=judged.sections)
