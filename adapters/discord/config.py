"""Where Discord is, and who we are there."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from rag_core.books.policy import ReaderProfile

API_BASE = "https://discord.com/api/v10"
GATEWAY_URL = "wss://gateway.discord.gg/"
AUTOMATIC: Final = "auto"
EVERYWHERE: Final = "global"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardRange:
    """The shards of this process, of so many in all; other hosts run the others."""

    first: int
    last: int
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderRole:
    """A role that says what its members have or know."""

    role_id: str
    profile: ReaderProfile


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordConfig:
    """What the adapter needs to know; the token never shows."""

    token: str = field(repr=False)
    api_base: str = API_BASE
    gateway_url: str = GATEWAY_URL
    staff_roles: Mapping[str, str] = field(default_factory=dict)
    """Of each server the role that is called where the documents did not help."""
    admin_roles: Collection[str] = frozenset()
    """Roles that may use the admin commands beside those who manage a server."""
    admin_channels: Mapping[str, str] = field(default_factory=dict)
    """Of each server the channel that is told what is missing."""
    reader_roles: Sequence[ReaderRole] = ()
    command_guilds: Sequence[str] = ()
    """The servers where commands are registered; none: everywhere."""
    direct_messages: bool = True
    allowed_bots: Collection[str] = frozenset()
    """Ids of bots and webhooks that may ask."""
    shards: ShardRange | Literal["auto"] | None = None
    """None: one connection; `auto`: as many as Discord proposes."""
    request_seconds: float = 15.0
    """How long one request may take; after that nobody knows whether it took effect."""
    guild_ready_seconds: float = 2.0
    """How long after the last server was announced the bot counts as ready."""
    identify_seconds: float = 5.0
    """The least time between two new sessions; Discord refuses a faster one."""
    open_seconds: float = 15.0
    """How long a gateway connection may take to begin or to resume a session."""
    beat_seconds: float = 8.0
    """Between two signs of life that Discord must answer."""
    answer_seconds: float = 3.0
    """How long Discord may take to answer one; from then on the bot counts as deaf."""
    silence_seconds: float = 20.0
    """So long nothing at all may be heard; then the connection is taken for lost."""
    connect_seconds: float = 1.0
    """The least time between two gateway connections; the library itself comes back at once."""
    retry_seconds: float = 1.0
    """The first pause before trying again to reach Discord; each further one is twice as long."""
    read_again_after: tuple[float, ...] = (5.0, 30.0, 120.0)
    """Pauses after which what was missed and could not be read is read again."""
    accept_pauses: tuple[float, ...] = (0.2, 1.0, 5.0)
    """Seconds between tries to hand a question to a desk that cannot take it."""
    line_after_seconds: float = 1.0
    """How long an answer may take before a line says how far it is."""
    line_every_seconds: float = 1.2
    """The least time between two changes of that line; Discord takes about five in five seconds."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "api_base", self.api_base.rstrip("/"))
