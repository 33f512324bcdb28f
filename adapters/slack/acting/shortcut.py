"""The message shortcut "Answer this from the docs"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from adapters.platform import AcceptsQuestions
from adapters.refusals import refusal_sentence
from adapters.slack.acting.private import Whispers
from adapters.slack.hearing.context import Context
from adapters.slack.hearing.errands import Errands
from adapters.slack.hearing.events import said
from adapters.slack.hearing.shapes import id_in
from adapters.slack.installing.teams import Teams

CALLBACK = "footnote_answer_this"
NAME = "Answer this from the docs"
NO_WORDS = "I read only what is written: this message has no words that I could look up."


class Shortcut:
    """The message that was pointed at is the question; the answer comes in its thread."""

    def __init__(
        self,
        *,
        desk: AcceptsQuestions,
        teams: Teams,
        context: Context,
        whispers: Whispers,
        errands: Errands,
    ) -> None:
        self._desk = desk
        self._teams = teams
        self._context = context
        self._whispers = whispers
        self._errands = errands

    async def use(self, body: Mapping[str, Any]) -> None:
        team = self._teams.of(id_in(body, "team"))
        message = {**body["message"], "channel": body["channel"]["id"], "type": "message"}
        heard = said({**message, "bot_id": ""}, team.workspace, heard_at=datetime.now(UTC))
        if heard is None or not heard.text:
            self._errands.start(self._whispers.respond(str(body["response_url"]), text=NO_WORDS))
            return
        question = await self._context.of(team, heard, reads_thread=False)
        receipt = await self._desk.accept(replace(question, asker_id=id_in(body, "user")))
        if sentence := refusal_sentence(receipt, locale=question.locale):
            self._errands.start(self._whispers.respond(str(body["response_url"]), text=sentence))
