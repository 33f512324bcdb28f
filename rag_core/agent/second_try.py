"""A draft with unsupported sentences is written once more, with the faults named."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rag_core.agent.answer import RemovedClaim
from rag_core.agent.budget import estimated_tokens
from rag_core.agent.prompts import NOT_COVERED
from rag_core.agent.verification.check import CheckedText
from rag_core.conversation.message import Message

LEAST_SECONDS = 10.0
"""With less time left there is no second try."""
RESERVED_SECONDS = 2.0
"""What stays for checking and handing over."""
MAX_NAMED = 8
MAX_FAULT = 200
MAX_DRAFT_TOKENS = 2_000
"""A longer draft is not sent back: the prompt would outgrow its budget."""


def is_worth_it(draft: str, text: CheckedText, *, seconds_left: float) -> bool:
    """Whether something was struck out, and there is time and room to write it anew."""
    return (
        bool(text.faults)
        and seconds_left >= LEAST_SECONDS
        and estimated_tokens(draft) <= MAX_DRAFT_TOKENS
    )


def correction(
    draft: str, faults: Sequence[RemovedClaim], *, at: datetime
) -> tuple[Message, Message]:
    """The draft, and what is wrong with it."""
    named = "\n".join(map(fault_line, faults[:MAX_NAMED]))
    return (
        Message.assistant(draft, at=at),
        Message.user(
            "The passages do not say this:\n"
            f"{named}\n"
            "Write the answer once more. Leave out what no passage says, or say it as the passage"
            " does, and cite the passage that it stands in. Write the answer only. If nothing is"
            f" left, reply with exactly: {NOT_COVERED}",
            at=at,
        ),
    )


def fault_line(fault: RemovedClaim) -> str:
    return f"- {' '.join(fault.text.split())[:MAX_FAULT]}\n  {fault.reason}"


def better(first: CheckedText, second: CheckedText) -> CheckedText:
    """The second text where it holds something and less had to be struck out of it."""
    return second if second.text and len(second.faults) < len(first.faults) else first
