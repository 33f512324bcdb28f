"""The two addresses by which a workspace lets the app in: to Slack, and back with its word."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

from adapters.slack.calling.scopes import bot_scopes
from adapters.slack.config import INSTALL_PATH, InstallConfig, install_address, redirect_uri
from adapters.slack.hearing.http import Receive, Send, headers_of
from adapters.slack.installing.admission import Admission, Declined
from adapters.slack.installing.pages import HEADERS, Page, installed_in, not_installed
from adapters.slack.installing.state import Fault, InstallStates
from rag_core.errors import FootnoteError

log = logging.getLogger(__name__)

AUTHORIZE = "../oauth/v2/authorize"
"""From the address of the API."""
COOKIE = "footnote_slack_install"
MAX_QUERY, MAX_FIELDS, MAX_COOKIES = 4_096, 20, 8_192
AT_ONCE = 4
DENIED = "access_denied"

Scope = MutableMapping[str, Any]


class InstallDoor:
    """A plain ASGI app. Nothing is stored for who only looks in."""

    def __init__(
        self, *, admission: Admission, states: InstallStates, config: InstallConfig, api_base: str
    ) -> None:
        self._admission = admission
        self._states = states
        self._config = config
        self._authorize = urljoin(api_base, AUTHORIZE)
        self._again = install_address(config)
        self._room = asyncio.Semaphore(AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1003})
            return
        await respond(send, await self._page(scope))

    async def _page(self, scope: Scope) -> Page:
        if scope["method"] != "GET":
            return Page(status=405, title="This address is only read", headers={"allow": "GET"})
        browser = cookie_in(headers_of(scope))
        if scope["path"] == INSTALL_PATH:
            return self._sent_to_slack(self._states.browser(browser))
        return await self._come_back(query_of(scope), browser)

    def _sent_to_slack(self, browser: str) -> Page:
        asked = {
            "client_id": self._config.client_id,
            "scope": ",".join(bot_scopes()),
            "redirect_uri": redirect_uri(self._config),
            "state": self._states.issue(browser),
        }
        secure = "; Secure" if self._again.startswith("https:") else ""
        lasts = int(self._config.state_seconds)
        path = urlsplit(self._again).path.removesuffix("/install")
        cookie = f"{COOKIE}={browser}; Path={path}; Max-Age={lasts}; HttpOnly; SameSite=Lax{secure}"
        headers = {"location": f"{self._authorize}?{urlencode(asked)}", "set-cookie": cookie}
        return Page(status=302, title="Slack asks on", headers=headers)

    async def _come_back(self, query: Mapping[str, str], browser: str) -> Page:
        again = self._again
        state = query.get("state", "")
        match self._states.fault(state, browser):
            case Fault.FOREIGN:
                return not_installed(
                    400,
                    "This browser did not begin the installation, or has lost its cookie since.",
                    again=again,
                )
            case Fault.LATE:
                return not_installed(400, "It took longer than ten minutes.", again=again)
        try:
            async with self._room:
                return await self._decided(query, state, again)
        except Declined as declined:
            return not_installed(
                declined.status, str(declined), again=again if declined.may_retry else ""
            )
        except FootnoteError as error:
            log.error("an installation broke off", extra={"cause": str(error)})
            return not_installed(
                503, "Footnote could not finish it just now. Try again in a minute.", again=again
            )

    async def _decided(self, query: Mapping[str, str], state: str, again: str) -> Page:
        if not await self._admission.is_first(state, until=self._states.until(state)):
            return not_installed(
                400, "This answer of Slack's was used already; each is good once.", again=again
            )
        if error := query.get("error"):
            said = (
                "Somebody said no in Slack. Nothing was changed."
                if error == DENIED
                else "Slack broke it off. Nothing was changed."
            )
            return not_installed(200 if error == DENIED else 502, said, again=again)
        if not (code := query.get("code")):
            return not_installed(400, "Slack's answer is not complete.", again=again)
        return installed_in(await self._admission.admit(code))


def query_of(scope: Scope) -> dict[str, str]:
    """What stands behind the question mark; nothing where that is too much."""
    raw = scope.get("query_string", b"")
    if len(raw) > MAX_QUERY:
        return {}
    try:
        pairs = parse_qsl(raw.decode("ascii", errors="replace"), max_num_fields=MAX_FIELDS)
    except ValueError:
        return {}
    return dict(pairs)


def cookie_in(headers: Mapping[str, str]) -> str:
    raw = headers.get("cookie", "")
    if len(raw) > MAX_COOKIES:
        return ""
    jar: SimpleCookie = SimpleCookie()
    try:
        jar.load(raw)
    except CookieError:
        return ""
    return jar[COOKIE].value if COOKIE in jar else ""


async def respond(send: Send, page: Page) -> None:
    body = b"" if page.status == 302 else page.html.encode()
    named = {"content-type": "text/html; charset=utf-8", **HEADERS, **page.headers}
    headers = [(name.encode(), value.encode()) for name, value in named.items()]
    headers.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": page.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
