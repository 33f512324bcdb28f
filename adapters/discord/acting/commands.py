"""The commands that people find in Discord, registered when they changed."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Sequence
from typing import Any

from adapters.discord.acting.group import FOOTNOTE_COMMAND
from adapters.discord.acting.keeping import KEEP_THIS
from adapters.discord.gateway.rest import DiscordRest
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
            "autocomplete": True,
        }
    ],
}
MENU_COMMAND: Command = {"type": MENU, "name": ANSWER_THIS}
KEEP_COMMAND: Command = {"type": MENU, "name": KEEP_THIS}


def commands(*, with_lookup: bool, keeps: bool = False) -> list[Command]:
    looking_up = [LOOKUP_COMMAND] if with_lookup else []
    keeping = [KEEP_COMMAND] if keeps else []
    return [ASK_COMMAND, *looking_up, FOOTNOTE_COMMAND, MENU_COMMAND, *keeping]


class CommandRegister:
    """Tells Discord of our commands, once for every change, and once again where that moved."""

    def __init__(
        self,
        wanted: Sequence[Command],
        *,
        guilds: Sequence[str],
        rest: DiscordRest,
        markers: MarkerStore,
    ) -> None:
        self._wanted = wanted
        self._guilds = guilds
        self._rest = rest
        self._markers = markers

    async def sync(self) -> None:
        """Best effort: what fails is tried at the next start of a session."""
        everywhere = [] if self._guilds else self._wanted
        try:
            for guild_id in self._guilds:
                await self._sync(self._wanted, guild_id)
            await self._sync(everywhere, None)
        except (UpstreamError, StorageError) as error:
            log.warning("commands not registered", extra={"cause": str(error)})

    async def _sync(self, wanted: Sequence[Command], guild_id: str | None) -> None:
        name = f"discord:commands:{self._rest.application_id}"
        name += f":{guild_id}" if guild_id else ""
        current, known = fingerprint(wanted), await self._markers.get(name)
        if known == current or (known is None and not wanted):
            return
        await self._rest.register_commands(wanted, guild_id=guild_id)
        await self._markers.set(name, current)
        log.info("commands registered", extra={"commands": len(wanted), "guild_id": guild_id})


def fingerprint(wanted: Sequence[Command]) -> str:
    return hashlib.sha256(json.dumps(wanted, sort_keys=True).encode()).hexdigest()
