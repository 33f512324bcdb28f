"""Which places refused us a moment ago."""

from __future__ import annotations

from collections import OrderedDict
from time import monotonic

from adapters.discord.gateway.errors import DiscordRefused

CLOSED_SECONDS = 60.0
"""So long a place that refused us is not asked again: Discord bans who asks too often."""
REMEMBERED = 1_000


class ClosedDoors:
    """Places that refused us a moment ago."""

    def __init__(self, seconds: float = CLOSED_SECONDS) -> None:
        self._seconds = seconds
        self._until: OrderedDict[str, tuple[float, DiscordRefused]] = OrderedDict()

    def close(self, name: str, refusal: DiscordRefused) -> None:
        self._until[name] = (monotonic() + self._seconds, refusal)
        self._until.move_to_end(name)
        while len(self._until) > REMEMBERED:
            self._until.popitem(last=False)

    def refusal(self, name: str) -> DiscordRefused | None:
        """What it said, as long as that counts."""
        until, refusal = self._until.get(name, (0.0, None))
        return refusal if monotonic() < until else None
