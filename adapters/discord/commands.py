"""The commands that people find in Discord, registered when they changed."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Sequence
from typing import Any

from adapters.discord.rest import DiscordRest
from rag_core.conversation.question import MAX_QUESTION
from rag_core.errors import StorageError, UpstreamError
from rag_core.ports import MarkerStore
from rag_core.retrieval.query import MIN_TEXT

log = logging.getLogger(__name__)

Command = dict[str, Any]
SLASH, MENU = 1, 3
TEXT, YES_OR_NO = 3, 5
ASK, LOOKUP, ANSWER_THIS = "ask", "lookup", "Answer this from the docs"
LONGEST_LOOKUP = 300

ASK_COMMAND: Command = {
    "type": SLASH,
    "name": ASK,
    "description": "Ask a question; the answer comes from the documents, with its sources.",
    "options": [
        {
            "type": TEXT,
            "name": "question",
            "description": "What would you like to know?",
            "required": True,
            "min_length": 1,
            "max_length": MAX_QUESTION,
        },
        {
            "type": TEXT,
            "name": "module",
            "description": "Look in this module only.",
            "autocomplete": True,
        },
        {
            "type": YES_OR_NO,
            "name": "private",
            "description": "Show the answer to me alone.",
        },
    ],
}
LOOKUP_COMMAND: Command = {
    "type": SLASH,
    "name": LOOKUP,
    "description": "Find passages in the documents; nothing is written by a model.",
    "options": [
        {
            "type": TEXT,
            "name": "query",
            "description": "What to look for.",
            "required": True,
            "min_length": MIN_TEXT,
            "max_length": LONGEST_LOOKUP,
        }
    ],
}
MENU_COMMAND: Command = {"type": MENU, "name": ANSWER_THIS}


def commands(*, with_lookup: bool) -> list[Command]:
    looking_up = [LOOKUP_COMMAND] if with_lookup else []
    return [ASK_COMMAND, *looking_up, MENU_COMMAND]


class CommandRegister:
    """Tells Discord of our commands, once for every change."""

    def __init__(
        self, wanted: Sequence[Command], *, rest: DiscordRest, markers: MarkerStore
    ) -> None:
        self._wanted = wanted
        self._rest = rest
        self._markers = markers

    async def sync(self) -> None:
        """Best effort: what fails is tried at the next start of a session."""
        try:
            await self._sync()
        except (UpstreamError, StorageError) as error:
            log.warning("commands not registered", extra={"cause": str(error)})

    async def _sync(self) -> None:
        name = f"discord:commands:{self._rest.application_id}"
        current = fingerprint(self._wanted)
        if await self._markers.get(name) == current:
            return
        await self._rest.register_commands(self._wanted)
        await self._markers.set(name, current)
        log.info("commands registered", extra={"commands": len(self._wanted)})


def fingerprint(wanted: Sequence[Command]) -> str:
    return hashlib.sha256(json.dumps(wanted, sort_keys=True).encode()).hexdigest()
