"""The questions of the last day, whose messages may have changed while nobody listened."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Protocol

from rag_core.conversation.key import Platform
from rag_core.desk.incoming import IncomingQuestion

LATELY = timedelta(hours=24)
MOST = 200
"""Each may cost a call, and the newest are those that matter."""


class KnowsAskedLately(Protocol):
    """The ledger, as far as that goes."""

    async def since(
        self, moment: datetime, *, platform: Platform, limit: int
    ) -> Sequence[IncomingQuestion]:
        """The newest first; what was taken back is left out."""
        ...


async def asked_lately(known: KnowsAskedLately, platform: Platform) -> Sequence[IncomingQuestion]:
    """Those that stand as a message where others see it: private ones have none."""
    found = await known.since(datetime.now(UTC) - LATELY, platform=platform, limit=MOST)
    return [question for question in found if not question.private]
