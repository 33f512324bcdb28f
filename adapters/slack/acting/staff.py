"""Calls a person where the documents did not help, and notes when the matter is resolved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from adapters.presses import LABELS, Press
from adapters.review import Review
from adapters.slack.acting.buttons import Pressed, button
from adapters.slack.acting.private import Whispers
from adapters.slack.acting.staff_members import StaffMembers, is_group
from adapters.slack.answering.blocks import section
from adapters.slack.answering.own_posts import marked_as
from adapters.slack.calling.patience import patiently
from adapters.slack.hearing.shapes import id_in, part
from adapters.slack.installing.teams import Teams
from rag_core.errors import UpstreamError

CALL = "{people} A person is asked for: please look at the question and the answer above."
RESOLVED = "✅ Resolved by <@{user}>."
NOT_CALLED = "Slack did not let me ask a person here. Please turn to them yourself."
NO_STAFF = "There is nobody here whom I could ask yet. Please turn to an admin."
NOT_STAFF = "Only who asked, or a person who was asked, can mark this as resolved."
CALLED = "A person was asked: they answer here."


class Staff:
    """The people whom the settings name, by their ids or that of a user group."""

    def __init__(
        self,
        people: Sequence[str],
        *,
        members: StaffMembers,
        review: Review,
        teams: Teams,
        whispers: Whispers,
    ) -> None:
        self._people = tuple(people)
        self._members = members
        self._review = review
        self._teams = teams
        self._whispers = whispers

    async def call(self, body: Mapping[str, Any], pressed: Pressed) -> None:
        """Tag them once, in the answer's thread."""
        if not self._people:
            await self._whispers.tell(body, NO_STAFF)
            return

        async def post() -> None:
            await self._post(body, pressed)

        try:
            refused = await self._review.call_a_person(pressed.answer_id, post)
        except UpstreamError:
            await self._whispers.tell(body, NOT_CALLED)
        else:
            await self._whispers.tell(body, refused or CALLED)

    async def resolved(self, body: Mapping[str, Any], pressed: Pressed) -> None:
        """The call says who resolved it, and nobody is called any more."""
        team, user = self._teams.of(id_in(body, "team")), id_in(body, "user")
        is_asker = user in pressed.askers
        if not is_asker and not await self._members.include(id_in(body, "team"), user):
            await self._whispers.tell(body, NOT_STAFF)
            return
        words = RESOLVED.format(user=user)
        await team.call(
            "chat.update",
            channel=id_in(body, "channel"),
            ts=part(body, "message").get("ts"),
            text=words,
            blocks=[section(words)],
        )

    async def _post(self, body: Mapping[str, Any], pressed: Pressed) -> None:
        message = part(body, "message")
        words = CALL.format(people=" ".join(mention(person) for person in self._people))
        caller = id_in(body, "user")
        value = f"{Press.RESOLVED} {pressed.answer_id.hex} {pressed.asker_id} {caller}"
        done = button(Press.RESOLVED, LABELS[Press.RESOLVED], value)
        call = partial(
            self._teams.of(id_in(body, "team")).post,
            channel=id_in(body, "channel"),
            thread_ts=message.get("thread_ts") or message.get("ts"),
            text=words,
            blocks=[section(words), {"type": "actions", "elements": [done]}],
            metadata=marked_as(f"call-{pressed.answer_id.hex}"),
        )
        await patiently(call)


def mention(person: str) -> str:
    """How Slack calls a member, or all of a user group."""
    return f"<!subteam^{person}>" if is_group(person) else f"<@{person}>"
