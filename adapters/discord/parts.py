"""One part of an answer: what it says, and how it is known again among sent messages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from adapters.discord.places import AnswerPlace
from adapters.discord.rest import Sent
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.outgoing import OutgoingPart


def payload(content: str, components: Sequence[dict[str, Any]] = ()) -> str:
    """What the reply channel reads."""
    shown: dict[str, Any] = {"content": content}
    if components:
        shown["components"] = list(components)
    return json.dumps(shown, ensure_ascii=False)


def content_of(part: OutgoingPart) -> str:
    return str(json.loads(part.payload)["content"])


def components_of(part: OutgoingPart) -> list[dict[str, Any]]:
    return list(json.loads(part.payload).get("components", []))


def is_this_part(
    sent: Sent, part: OutgoingPart, question: IncomingQuestion, place: AnswerPlace, *, own_id: str
) -> bool:
    """Discord may tell a nonce only to who has just sent it, so its traces must do: our own
    message after the question, in reply to it, with the words of this part. Parts of one
    answer differ by their count."""
    ours = sent.author_id == own_id and int(sent.id) > int(question.message_id)
    same = sent.reply_to == place.reply_to and trace(sent.content) == trace(content_of(part))
    return ours and (same or sent.nonce == part.key)


def trace(content: str) -> str:
    """A message's words without white space, which Discord may trim."""
    return "".join(content.split())
