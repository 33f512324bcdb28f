"""Where a private answer should stand: for the channel to see, or with the asker alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

from adapters.answered_threads import AnsweredThreads
from adapters.closed_passages import ClosedPassages
from adapters.excerpts import one_line
from adapters.review import NOT_OPEN, KnowsAnswers, told_in_words
from adapters.slack.acting.buttons import Pressed, without_choice
from adapters.slack.acting.private import Whispers
from adapters.slack.answering.markdown import escaped
from adapters.slack.answering.own_posts import marked_as
from adapters.slack.answering.renderer import SlackRenderer
from adapters.slack.answering.reply import message_in
from adapters.slack.calling.patience import patiently
from adapters.slack.hearing.shapes import id_in
from adapters.slack.installing.teams import Teams
from rag_core.agent.answer import AgentResponse
from rag_core.conversation.key import ConversationKey, Platform, TenantId
from rag_core.conversation.question import Question
from rag_core.desk.incoming import IncomingQuestion
from rag_core.errors import UpstreamError, UpstreamRejected
from rag_core.ports import MarkerStore

SHARED = "Shared in this channel."
SHARED_BEFORE = "This answer was shared already."
NOT_SHARED = "I am not in this channel: write `/invite` and my name here, and press Share again."
NOT_SHARED_YET = "Slack did not take it just now. Please press Share again in a minute."
NOT_STORED = "This answer is not stored any more."
MAX_QUOTED = 300


class Sharing:
    """Posts a private answer into its channel, once; or takes the question of it away."""

    def __init__(
        self,
        *,
        answers: KnowsAnswers,
        markers: MarkerStore,
        teams: Teams,
        whispers: Whispers,
        renderer: SlackRenderer,
        threads: AnsweredThreads,
        closed: ClosedPassages | None = None,
    ) -> None:
        self._closed = closed
        self._answers = answers
        self._markers = markers
        self._teams = teams
        self._whispers = whispers
        self._renderer = renderer
        self._threads = threads

    async def share(self, body: Mapping[str, Any], pressed: Pressed) -> None:
        marker = f"slack:shared:{pressed.answer_id}"
        found, is_shared, is_closed = None, None, False
        with told_in_words() as problem:
            found = await self._answers.answer(pressed.answer_id)
            is_shared = await self._markers.get(marker)
            if found is not None and self._closed is not None:
                is_closed = await self._closed.are_cited(*found, category_id="")
        team_id = id_in(body, "team")
        if found is None or (found[1].platform, found[1].tenant) != (Platform.SLACK, team_id):
            await self._whispers.tell(body, problem.sentence or NOT_STORED)
        elif problem.sentence or is_closed:
            await self._whispers.tell(body, problem.sentence or NOT_OPEN)
        elif is_shared:
            await self._whispers.tell(body, SHARED_BEFORE)
        else:
            await self._markers.set(marker, "shared")
            try:
                await self._post(body, pressed, found[0])
            except UpstreamError as error:
                await self._markers.set(marker, "")
                refused = isinstance(error, UpstreamRejected) and not error.retryable
                await self._whispers.tell(body, NOT_SHARED if refused else NOT_SHARED_YET)
            else:
                await self._replaced(body, text=SHARED)

    async def keep(self, body: Mapping[str, Any], pressed: Pressed) -> None:
        """The answer stays as it is, without asking. Slack does not send along what only one
        person sees, so it is made once more; the buttons stand on its last part."""
        found = await self._answers.answer(pressed.answer_id)
        if found is None or found[1].tenant != id_in(body, "team"):
            await self._whispers.tell(body, NOT_STORED)
            return
        key = found[1]
        question = as_asked(
            found[0], key.tenant, key.channel_id, thread=key.thread_id, asker=pressed.asker_id
        )
        message = message_in(json.loads(self._renderer.render(found[0], question)[-1]))
        await self._replaced(body, **message | {"blocks": without_choice(message["blocks"])})

    async def _replaced(self, body: Mapping[str, Any], **message: Any) -> None:
        url = str(body.get("response_url") or "")
        await self._whispers.respond(url, replaces=True, **message)

    async def _post(
        self, body: Mapping[str, Any], pressed: Pressed, response: AgentResponse
    ) -> None:
        """Question and answer, as if it had been asked in the channel by who pressed."""
        team, channel = self._teams.of(id_in(body, "team")), id_in(body, "channel")
        asker = id_in(body, "user")
        head_of_it = {"metadata": metadata_for(pressed, 0), **head_message(response.query)}
        head = await patiently(partial(team.post, channel=channel, **head_of_it))
        question = as_asked(response, team.workspace.team_id, channel, thread=head, asker=asker)
        for number, payload in enumerate(self._renderer.render(response, question), start=1):
            message = message_in(json.loads(payload))
            message |= {"blocks": without_choice(message["blocks"])}
            message |= {"thread_ts": head, "metadata": metadata_for(pressed, number)}
            await patiently(partial(team.post, channel=channel, **message))
        await self._threads.remember(question.key, message_id=head)


def head_message(query: str) -> dict[str, Any]:
    words = f"❓ {one_line(query, MAX_QUOTED)}"
    element = {"type": "plain_text", "text": words}
    return {"text": escaped(words), "blocks": [{"type": "section", "text": element}]}


def as_asked(
    response: AgentResponse, tenant: TenantId, channel: str, *, thread: str, asker: str
) -> IncomingQuestion:
    return IncomingQuestion(
        key=ConversationKey(
            platform=Platform.SLACK, tenant=tenant, channel_id=channel, thread_id=thread
        ),
        message_id=thread,
        asker_id=asker,
        question=Question(message=response.query),
        heard_at=datetime.now(UTC),
        position=thread,
        private=True,  # what is deleted and asked again is the private one
    )


def metadata_for(pressed: Pressed, number: int) -> dict[str, Any]:
    return marked_as(f"shared-{pressed.answer_id.hex}-{number}")
