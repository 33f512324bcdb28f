"""Slack with several workspaces and one app that they install: OAuth, tokens, one event stream.

Every workspace is a strict stand-in of its own with the same channels, people and times as the
others; what tells them apart is the token and the workspace's id, as it should be."""

from __future__ import annotations

from base64 import b64decode
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import count
from time import time
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlencode, urlsplit

from aiohttp import web

from tests.peers.loopback import serving
from tests.peers.slack import APP_TOKEN, SlackPeer, arguments_of, token_of
from tests.peers.slack_api import ALL_SCOPES
from tests.peers.slack_rules import Refused
from tests.peers.slack_sender import SlackHttpSender
from tests.peers.slack_socket import SlackDeliveries, SlackSocketServer
from tests.peers.slack_world import APP, BOT_USER

CLIENT_ID, CLIENT_SECRET = "111.222", "client-CANARY-secret"
ACME, BETA = "T0ACME", "T0BETA"


@dataclass
class Code:
    """What a browser brings back, good once."""

    team: str
    redirect_uri: str
    organisation: bool = False
    used: bool = False


@dataclass
class Token:
    """A bot's token, and how Slack refuses it once it is of no use."""

    team: str
    refused: str = ""
    ends_at: float | None = None


class SlackCloud:
    """One app in many workspaces; an async context manager."""

    def __init__(self, *teams: str, ack_seconds: float = 3.0) -> None:
        self.sockets = SlackSocketServer(ack_seconds=ack_seconds, pauses=(0.1, 0.5))
        self.workspaces = {team: SlackPeer(team=team) for team in teams}
        self.redirect_uri = ""
        """The one that the app's own settings name."""
        self.rotates_after: float | None = None
        self.tokens: dict[str, Token] = {}
        self.base = ""
        self.exchanges: list[str] = []
        """How each exchange and renewal ended, in order."""
        self.strangers: list[str] = []
        """Methods that were called with a token that nobody has."""
        self.is_away = False
        self._codes: dict[str, Code] = {}
        self._refreshes: dict[str, str] = {}
        self._numbers = count(1)
        self._server = AsyncExitStack()

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_route("*", "/api/{method}", self._handle)
        app.router.add_get("/link", self.sockets.handle)
        host = await self._server.enter_async_context(serving(app, shutdown_seconds=1.0))
        self.base = f"http://{host}/api/"
        for peer in self.workspaces.values():
            peer.base, peer.api.tokens = self.base, {}
        self._deliver_by(self.sockets)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.deliveries.close()
        await self.sockets.close()
        await self._server.aclose()
        if kind is None:
            assert not self.strangers, f"called with a token of nobody: {self.strangers}"
            for peer in self.workspaces.values():
                peer.assert_content()

    def sends_to(self, address: str) -> None:
        """From now on events go, signed, to this address and no more to a socket."""
        self._deliver_by(SlackHttpSender(address, ack_seconds=3.0, pauses=(0.1, 0.5)))

    def _deliver_by(self, deliveries: SlackDeliveries) -> None:
        self.deliveries = deliveries
        for peer in self.workspaces.values():
            peer.deliveries = deliveries

    # What people do in a browser

    def decides(self, location: str, team: str, *, organisation: bool = False) -> str:
        """Somebody says yes on the page that the app led to; where the browser is sent back."""
        asked = self._asked(location)
        code = f"code-{next(self._numbers)}"
        self._codes[code] = Code(team, asked["redirect_uri"], organisation)
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def denies(self, location: str) -> str:
        asked = self._asked(location)
        denied = {"error": "access_denied", "state": asked["state"]}
        return f"{asked['redirect_uri']}?{urlencode(denied)}"

    def _asked(self, location: str) -> dict[str, str]:
        """What the page was asked for, checked as Slack checks it."""
        page = urlsplit(location)
        own = urlsplit(self.base)
        assert (page.netloc, page.path) == (own.netloc, "/oauth/v2/authorize"), location
        asked = {name: values[0] for name, values in parse_qs(page.query).items()}
        assert asked["client_id"] == CLIENT_ID
        assert asked["redirect_uri"] == self.redirect_uri, "bad_redirect_uri"
        assert set(asked["scope"].split(",")) == ALL_SCOPES, "invalid_scope"
        assert len(asked["state"]) >= 32, "a state that can be guessed"
        return asked

    # What happens to an installation

    def tokens_of(self, team: str) -> list[str]:
        return [name for name, token in self.tokens.items() if token.team == team]

    def uninstall(
        self, team: str, *, tells: bool = True, refused: str = "account_inactive"
    ) -> None:
        """Somebody removes the app; its tokens end, and Slack sends word."""
        for name in self.tokens_of(team):
            self._end(name, refused)
        if tells:
            self.tell_uninstalled(team)

    def tell_uninstalled(self, team: str) -> None:
        self.workspaces[team].emit({"type": "app_uninstalled", "event_ts": "1.1"})
        revoked = {"oauth": [], "bot": [BOT_USER]}
        self.workspaces[team].emit({"type": "tokens_revoked", "event_ts": "1.1", "tokens": revoked})

    def run_out(self, team: str) -> None:
        """The tokens of a workspace have come to their end before anybody renewed them."""
        for name in self.tokens_of(team):
            self._end(name, self.tokens[name].refused or "token_expired")

    def _end(self, name: str, refused: str) -> None:
        self.tokens[name].refused = refused
        self.workspaces[self.tokens[name].team].api.tokens.pop(name, None)

    # HTTP

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        method, token = request.match_info["method"], token_of(request)
        if self.is_away:
            return web.Response(status=503, text="upstream connect error")
        try:
            if method == "oauth.v2.access":
                return web.json_response({"ok": True} | await self._access(request))
            if token == APP_TOKEN and method == "apps.connections.open":
                return web.json_response({"ok": True, "url": self._socket_url()})
            known = self._known(method, token)
        except Refused as refused:
            return web.json_response({"ok": False, "error": refused.error} | refused.extra)
        if method == "auth.revoke":
            assert token is not None
            self._end(token, "token_revoked")
            return web.json_response({"ok": True, "revoked": True})
        return await self.workspaces[known.team].handle(request)

    def _known(self, method: str, name: str | None) -> Token:
        if name is None:
            raise Refused("not_authed")
        token = self.tokens.get(name)
        if token is None:
            self.strangers.append(method)
            raise Refused("invalid_auth")
        if token.ends_at is not None and time() > token.ends_at:
            self._end(name, token.refused or "token_expired")
        if token.refused:
            raise Refused(token.refused)
        return token

    async def _access(self, request: web.Request) -> dict[str, Any]:
        try:
            made = self._granted(request, await arguments_of(request))
        except Refused as refused:
            self.exchanges.append(refused.error)
            raise
        self.exchanges.append("ok")
        return made

    def _granted(self, request: web.Request, given: dict[str, Any]) -> dict[str, Any]:
        check_client(request)
        if given.get("grant_type") == "refresh_token":
            team = self._refreshes.pop(str(given.get("refresh_token")), None)
            if team is None:
                raise Refused("invalid_refresh_token")
            return self._issued(team, organisation=False)
        code = self._codes.get(str(given.get("code")))
        if code is None:
            raise Refused("invalid_code")
        if code.used:
            raise Refused("code_already_used")
        if given.get("redirect_uri") != code.redirect_uri:
            raise Refused("bad_redirect_uri")
        code.used = True
        return self._issued(code.team, organisation=code.organisation)

    def _issued(self, team: str, *, organisation: bool) -> dict[str, Any]:
        name = f"xoxb-CANARY-{team}-{next(self._numbers)}"
        lasts = self.rotates_after
        self.tokens[name] = Token(team, ends_at=None if lasts is None else time() + lasts)
        self.workspaces[team].api.tokens[name] = "bot"
        made: dict[str, Any] = {
            "access_token": name,
            "token_type": "bot",
            "scope": ",".join(sorted(ALL_SCOPES)),
            "bot_user_id": BOT_USER,
            "app_id": APP,
            "team": None if organisation else {"id": team, "name": f"{team} & <Sons>"},
            "enterprise": {"id": "E0ORG", "name": "Org"} if organisation else None,
            "is_enterprise_install": organisation,
            "authed_user": {"id": "U0INSTALLER"},
        }
        if lasts is not None:
            refresh = f"xoxe-CANARY-{team}-{next(self._numbers)}"
            self._refreshes[refresh] = team
            made |= {"expires_in": max(1, int(lasts)), "refresh_token": refresh}
        return made

    def _socket_url(self) -> str:
        ticket = self.sockets.issue_ticket()
        return self.base.replace("http://", "ws://").replace("/api/", f"/link?ticket={ticket}")


def check_client(request: web.Request) -> None:
    """The app's own id and secret, and nothing of a workspace beside them."""
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    if request.method != "POST" or scheme != "Basic":
        raise Refused("invalid_client_id")
    client, _, secret = b64decode(given).decode().partition(":")
    if client != CLIENT_ID:
        raise Refused("invalid_client_id")
    if secret != CLIENT_SECRET:
        raise Refused("bad_client_secret")
