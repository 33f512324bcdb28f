"""How a part of an answer is known again among sent messages."""

from __future__ import annotations

from adapters.discord.answering.places import AnswerPlace
from adapters.discord.answering.post import Post
from adapters.discord.gateway.rest import Sent
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.outgoing import OutgoingPart


def post_of(part: OutgoingPart) -> Post:
    return Post.read(part.payload)


def is_this_part(
    sent: Sent, part: OutgoingPart, question: IncomingQuestion, place: AnswerPlace, *, own_id: str
) -> bool:
    """Discord may tell a nonce only to who has just sent it, so its traces must do: our own
    message after the question, in reply to it, with the words of this part. Parts of one
    answer differ by their count."""
    ours = sent.author_id == own_id and int(sent.id) > int(question.message_id)
    same = sent.reply_to == place.reply_to and trace(sent.content) == trace(post_of(part).content)
    return ours and (same or sent.nonce == part.key)


def trace(content: str) -> str:
    """A message's words without white space, which Discord may trim."""
    return "".join(content.split())
