"""A strict Discord on loopback: what the real one refuses, this one refuses, and remembers."""

from __future__ import annotations

import asyncio
import json
import re
import struct
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from socket import SO_LINGER, SOL_SOCKET
from typing import Any

from aiohttp import web

from tests.peers.discord_gateway import (
    DIRECT_MESSAGES,
    GUILD_MESSAGES,
    GUILDS,
    MESSAGE_CONTENT,
    Gateway,
    Session,
)
from tests.peers.discord_interactions import Interactions
from tests.peers.discord_limits import Allowance, Buckets, Trouble, Troubles
from tests.peers.discord_posting import without_content
from tests.peers.discord_rest import BY_TOKEN, Call, Routes, deletion
from tests.peers.discord_rules import Refused
from tests.peers.discord_shapes import Shape, least, whole
from tests.peers.discord_world import (
    DEFAULT,
    DM,
    REPLY,
    Channel,
    Guild,
    Note,
    Person,
    World,
    timestamp,
)
from tests.peers.loopback import serving

SEND = "POST /channels/:c/messages"
START_THREAD = "POST /channels/:c/messages/:m/threads"
EDIT = "PATCH /channels/:c/messages/:m"
HISTORY = "GET /channels/:c/messages"
TYPING = "POST /channels/:c/typing"
ME = "GET /users/@me"
MENTION = re.compile(r"<@!?(\d+)>")
TOKEN = "bot-token-for-tests"
SENDS = Allowance(5, 0.05)
"""Discord allows five messages in five seconds; most tests have no time for that."""
REAL = Allowance(5, 5.0)
OTHERS = Allowance(50, 1.0)


class DiscordPeer:
    """The whole stand-in: say something, and look at what people see afterwards."""

    def __init__(self, *, identify_gap: float, buckets: Buckets) -> None:
        self.world = World()
        self.gateway = Gateway(token=TOKEN, heartbeat_ms=41_250, identify_gap=identify_gap)
        self.gateway.greeting = self._greet
        self.routes = Routes(self.world)
        self.routes.publish = self._publish
        self.routes.reads_content = lambda: "content" in self.gateway.allowed
        self.interactions = Interactions(self.routes)
        self.clock = self.interactions.clock
        self.buckets = buckets
        self.troubles = Troubles()
        self.troubled: list[str] = []
        """The paths of the requests that went wrong."""
        self.early: list[float] = []
        """By how many seconds requests came before Retry-After had passed."""
        self._not_before: dict[str, float] = {}
        self.calls: list[Call] = []
        self.refusals: list[str] = []
        self.files: dict[str, bytes] = {}
        self.fetched: list[str] = []
        self.api_base = ""
        self.gateway_url = ""
        self.resume_url = ""
        self.tells_shards = True
        self.outages: set[int] = set()
        """Servers that are not told of yet."""
        self._shown: Shape = whole
        self._closing = asyncio.Event()

    # What a test does

    async def say(
        self,
        channel: Channel,
        author: Person,
        text: str,
        *,
        mentions_bot: bool = False,
        listed: bool = True,
        reply_to: Note | None = None,
        attachments: Iterable[dict[str, Any]] = (),
        roles: tuple[int, ...] = (),
        kind: int | None = None,
    ) -> Note:
        """Somebody writes a message. `listed=False` leaves `mentions` empty, as Discord may."""
        content = f"<@{self.world.bot.id}> {text}" if mentions_bot else text
        named = [self.world.people.get(int(found)) for found in MENTION.findall(content)]
        mentions = [person for person in named if person] if listed else []
        if reply_to is not None and listed:
            mentions.append(reply_to.author)
        note = Note(
            self.world.ids.next(),
            channel.id,
            author,
            content,
            kind=kind or (REPLY if reply_to else DEFAULT),
            mentions=tuple(unique(mentions)),
            mention_roles=roles,
            reference=reply_to,
            attachments=list(attachments),
        )
        channel.notes.append(note)
        await self._publish("MESSAGE_CREATE", note, channel=channel)
        return note

    async def edit(self, note: Note, text: str) -> None:
        """Whoever wrote a message changes it; a mention that stood in it stays."""
        bot = f"<@{self.world.bot.id}>"
        note.content = f"{bot} {text}" if bot in note.content else text
        note.edited_at = timestamp()
        await self._publish("MESSAGE_UPDATE", note, channel=self.world.channels[note.channel_id])

    async def unfurl(self, note: Note) -> None:
        """Discord adds a preview to a message: an update in which nobody changed a word."""
        await self._publish("MESSAGE_UPDATE", note, channel=self.world.channels[note.channel_id])

    async def delete(self, *notes: Note) -> None:
        """Somebody deletes messages of one channel; several at once are told as one."""
        channel = self.world.channels[notes[0].channel_id]
        for note in notes:
            channel.notes.remove(note)
        if len(notes) == 1:
            await self._publish("MESSAGE_DELETE", deletion(channel, notes[0]), channel=channel)
            return
        told = deletion(channel, notes[0]) | {"ids": [str(note.id) for note in notes]}
        del told["id"]
        await self._publish("MESSAGE_DELETE_BULK", told, channel=channel)

    async def begin_post(
        self, forum: Channel, author: Person, title: str, text: str, *tags: int
    ) -> Channel:
        """Somebody begins a post: the thread is told first, its first message afterwards."""
        post = self.world.thread(forum, title, owner=author)
        post.applied_tags = list(tags)
        await self._publish("THREAD_CREATE", post.as_json() | {"newly_created": True})
        first = Note(post.id, post.id, author, text)
        post.notes.append(first)
        await self._publish("MESSAGE_CREATE", first, channel=post)
        return post

    def attach(self, name: str, content: bytes, kind: str | None = "text/plain") -> dict[str, Any]:
        """A file for a message, served where attachments are."""
        number = len(self.files) + 1
        self.files[f"/attachments/{number}/{name}"] = content
        url = self.api_base.removesuffix("/api/v10") + f"/attachments/{number}/{name}"
        shown = {"id": str(number), "filename": name, "size": len(content)}
        shown |= {"url": url, "proxy_url": url}
        return shown | ({"content_type": kind} if kind else {})

    async def _attachment(self, request: web.Request) -> web.Response:
        self.fetched.append(request.path)
        content = self.files.get(request.path)
        return web.Response(status=404) if content is None else web.Response(body=content)

    async def repeat(self, note: Note) -> None:
        """Deliver a message once more, as a gateway may after a resume."""
        channel = self.world.channels[note.channel_id]
        await self._publish("MESSAGE_CREATE", note, channel=channel)

    def seen_in(self, channel_id: int) -> list[Note]:
        """What the bot has written in a channel or thread, oldest first."""
        channel = self.world.channels.get(channel_id)
        return [n for n in channel.notes if n.author is self.world.bot] if channel else []

    def bodies(self, route: str) -> list[Any]:
        return [call.body for call in self.calls if call.route == route]

    async def until(self, condition: Any, *, within: float = 10.0) -> Any:
        """Wait until something is so after a request or a frame; its value."""
        async with asyncio.timeout(within):
            while True:
                if value := condition():
                    return value
                await asyncio.sleep(0.005)

    def forgive(self) -> list[str]:
        """Take the refusals so far: a test that provokes them says so."""
        taken, self.refusals = self.refusals, []
        return taken

    def tells_least(self) -> None:
        """Leave out what Discord may leave out, and what only some readers of it need."""
        self.gateway.shape = self._shown = least

    async def ends_outage(self, guild: Guild) -> None:
        self.outages.discard(guild.id)
        await self._publish("GUILD_CREATE", guild.as_json(self.world.bot))

    # What Discord does

    async def _greet(self, session: Session) -> None:
        number, count = session.shard
        guilds = [g for g in self.world.guilds.values() if (g.id >> 22) % count == number]
        ready = {
            "v": 10,
            "user": self.world.bot.as_json(),
            "guilds": [{"id": str(guild.id), "unavailable": True} for guild in guilds],
            "session_id": session.id,
            **({"shard": list(session.shard)} if self.tells_shards else {}),
            "resume_gateway_url": self.resume_url or self.gateway_url,
            "application": {"id": str(self.world.bot.id), "flags": self.routes.flags},
            "private_channels": [],
        }
        await session.dispatch("READY", ready)
        for guild in guilds if session.has(GUILDS) else []:
            if guild.id not in self.outages:
                await session.dispatch("GUILD_CREATE", guild.as_json(self.world.bot))

    async def _publish(self, kind: str, what: Any, *, channel: Channel | None = None) -> None:
        for session in list(self.gateway.sessions.values()):
            if isinstance(what, Note):
                assert channel is not None
                await self._publish_note(session, kind, what, channel)
            elif session.has(GUILDS) and self._concerns(session, what):
                await session.dispatch(kind, what)

    def _concerns(self, session: Session, what: Any) -> bool:
        """A server belongs to one shard, everything else to the first."""
        number, count = session.shard
        guild_id = what.get("guild_id")
        return number == ((int(guild_id) >> 22) % count if guild_id else 0)

    async def _publish_note(
        self, session: Session, kind: str, note: Note, channel: Channel
    ) -> None:
        direct = channel.kind == DM
        if not self._concerns(session, {} if direct else {"guild_id": channel.guild_id}):
            return
        if channel.lacks("VIEW_CHANNEL"):
            return
        if not session.has(DIRECT_MESSAGES if direct else GUILD_MESSAGES):
            return
        own = note.author is self.world.bot
        data = note.as_json(with_nonce=own)
        if not direct:
            data |= {"guild_id": str(channel.guild_id)}
            roles = [str(role) for role in self.interactions.roles.get(note.author.id, [])]
            data |= {} if note.author.webhook else {"member": {"roles": roles, "flags": 0}}
        readable = own or direct or self.world.bot in note.mentions or session.has(MESSAGE_CONTENT)
        await session.dispatch(kind, data if readable else without_content(data))

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """One REST request: limits first, then troubles, then what it asks for."""
        path = request.path.removeprefix("/api/v10")
        try:
            route, ids = self._admit(request, path)
        except Refused as refusal:
            return self._refuse(request.method, path, refusal)
        body = await self._body(request)
        call = Call(request.method, route, path, body, dict(request.query), time.monotonic())
        self.calls.append(call)
        if not BY_TOKEN.fullmatch(path) and (wait := self.buckets.take_any()) is not None:
            return limited(wait, {}, everywhere=True)
        headers, wait = self.buckets.take(route, ids[0] if ids else "")
        if wait is not None:
            return limited(wait, headers)
        self._note_early(f"{request.method} {path}")
        trouble = self.troubles.next(route)
        if trouble is not None:
            self.troubled.append(path)
        if trouble is not None and not trouble.takes_effect:
            return await self._trouble(request, trouble, headers)
        try:
            status, shown = await self.routes.table[route](call, *ids)
        except Refused as refusal:
            return self._refuse(request.method, path, refusal, headers)
        except Exception as defect:
            self.refusals.append(f"{route}: a defect of the stand-in: {defect!r}")
            raise
        if trouble is not None:
            return await self._trouble(request, trouble, headers)
        return answered(status, self._shown(route, shown), headers)

    async def _body(self, request: web.Request) -> Any:
        """JSON; with files it stands in one field of a form, and names the others."""
        if not request.content_type.startswith("multipart/"):
            return json.loads(raw) if (raw := await request.read()) else None
        form = await request.post()
        body = json.loads(str(form["payload_json"]))
        for shown in body.get("attachments", []):
            sent = form[f"files[{shown['id']}]"]
            assert isinstance(sent, web.FileField)
            shown |= self.attach(sent.filename, sent.file.read())
        return body

    def _admit(self, request: web.Request, path: str) -> tuple[str, list[str]]:
        kind = request.headers.get("Content-Type", "")
        has_form = kind.startswith("multipart/form-data") and request.method in {"POST", "PATCH"}
        if request.can_read_body and kind != "application/json" and not has_form:
            raise Refused(400, 50035, "Expected Content-Type header to be application/json")
        if BY_TOKEN.fullmatch(path):  # the token in the path is all that is asked for
            return self.routes.find(request.method, path)
        if not request.headers.get("User-Agent", "").startswith("DiscordBot ("):
            raise Refused(403, 40333, "internal network error: bad user agent")
        if request.headers.get("Authorization") != f"Bot {TOKEN}":
            raise Refused(401, 0, "401: Unauthorized")
        return self.routes.find(request.method, path)

    def _refuse(
        self, method: str, path: str, refusal: Refused, headers: dict[str, str] | None = None
    ) -> web.Response:
        why = "; ".join(refusal.errors) or refusal.message
        self.refusals.append(f"{method} {path}: {refusal.status} {refusal.code} {why}")
        return answered(refusal.status, refusal.as_json(), headers or {})

    def _note_early(self, asked: str) -> None:
        early = self._not_before.pop(asked, 0.0) - time.monotonic()
        if early > 0:
            self.early.append(early)

    async def _trouble(
        self, request: web.Request, trouble: Trouble, headers: dict[str, str]
    ) -> web.StreamResponse:
        if trouble.hang:
            await self._closing.wait()
        if trouble.reset or trouble.hang:
            cut(request)
            return web.Response(status=500)
        if trouble.body is not None:
            told = headers | ({"Via": "1.1 google"} if trouble.via else {})
            return answered(trouble.status or 500, trouble.body, told)
        if trouble.status == 429:
            asked = f"{request.method} {request.path.removeprefix('/api/v10')}"
            self._not_before[asked] = time.monotonic() + trouble.retry_after
            return limited(
                trouble.retry_after, headers, via=trouble.via, everywhere=trouble.everywhere
            )
        shown = {"message": "trouble", "code": trouble.code}
        headers |= {"Retry-After": str(trouble.retry_after)} if trouble.retry_after else {}
        return answered(trouble.status or 500, shown, headers)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[DiscordPeer]:
        app = web.Application(client_max_size=16 * 1024 * 1024)
        app.router.add_get("/", self.gateway.serve)
        app.router.add_get("/attachments/{tail:.*}", self._attachment)
        app.router.add_route("*", "/api/v10/{tail:.*}", self.answer)
        async with serving(app) as host:
            self.api_base = f"http://{host}/api/v10"
            self.gateway_url = f"ws://{host}/"
            try:
                yield self
            finally:
                self._closing.set()
                self.gateway.closing.set()
        faults = self.refusals + self.gateway.complaints
        assert not faults, "Discord refused: " + " | ".join(faults)


def answered(status: int, body: Any, headers: dict[str, str]) -> web.Response:
    """An answer with the exact content type that the client library insists on."""
    if status == 204:
        return web.Response(status=204, headers=headers)
    content = json.dumps(body).encode()
    return web.Response(
        status=status, body=content, headers=headers | {"Content-Type": "application/json"}
    )


def limited(
    wait: float, headers: dict[str, str], *, via: bool = True, everywhere: bool = False
) -> web.Response:
    scope = "global" if everywhere else "user"
    told = headers | {"Retry-After": str(wait), "X-RateLimit-Scope": scope}
    body = {"message": "You are being rate limited.", "retry_after": wait, "global": everywhere}
    return answered(429, body, told | ({"Via": "1.1 google"} if via else {}))


def cut(request: web.Request) -> None:
    """Reset the connection, as a dying network does."""
    if request.transport is not None:
        sock = request.transport.get_extra_info("socket")
        sock.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
        request.transport.abort()


def unique(people: list[Person]) -> list[Person]:
    return list({person.id: person for person in people}.values())


@asynccontextmanager
async def open_discord_peer(
    *,
    identify_gap: float = 0.02,
    sends: Allowance = SENDS,
    edits: Allowance = OTHERS,
    default: Allowance = OTHERS,
) -> AsyncIterator[DiscordPeer]:
    """A Discord that serves until the block ends; it then fails if it had to refuse anything."""
    buckets = Buckets(default=default, special={SEND: sends, EDIT: edits})
    async with DiscordPeer(identify_gap=identify_gap, buckets=buckets).serving() as peer:
        yield peer
