"""Asks public web servers for documents, and nobody else for anything."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Self
from urllib.parse import urljoin

import httpx

from rag_core.websites.address import AddressRefused, WebAddress, check_ip, check_name, parsed
from rag_core.websites.response import AGENT, Answer, FetchLimits, Unreachable

REDIRECTS = frozenset({301, 302, 303, 307, 308})
MAX_REDIRECTS = 5

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""A host's IP addresses."""


class Fetcher:
    """Fetches documents of public sites. Each host's address is looked up once, checked, and is
    the one that is connected to: a name that later leads elsewhere leads nowhere."""

    def __init__(
        self,
        *,
        version: str,
        allowed: Collection[str] = (),
        limits: FetchLimits | None = None,
        resolve: Resolve | None = None,
        trust: ssl.SSLContext | None = None,
    ) -> None:
        self.limits = limits or FetchLimits()
        self._agent = f"{AGENT}/{version}"
        self._allowed = frozenset(host.lower() for host in allowed)
        self._resolve = resolve or resolved
        self._known: dict[tuple[str, int], asyncio.Task[Sequence[str]]] = {}
        self._transport = httpx.AsyncHTTPTransport(
            verify=True if trust is None else trust,
            limits=httpx.Limits(max_connections=2 * self.limits.at_once),
        )

    async def __aenter__(self) -> Self:
        await self._transport.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for task in self._known.values():
            task.cancel()
        await asyncio.gather(*self._known.values(), return_exceptions=True)
        await self._transport.__aexit__(kind, error, trace)

    async def get(
        self,
        address: WebAddress,
        *,
        max_bytes: int,
        conditions: Mapping[str, str] | None = None,
    ) -> Answer:
        """The document at an address of the same site, however the server leads there."""
        asked = address
        try:
            async with asyncio.timeout(self.limits.request_seconds):
                for _ in range(MAX_REDIRECTS + 1):
                    answer = await self._once(asked, max_bytes, conditions or {})
                    if answer.status not in REDIRECTS:
                        return answer
                    asked = led_to(asked, answer, home=address)
        except TimeoutError as error:
            seconds = f"{self.limits.request_seconds:g}"
            raise Unreachable(f"it did not answer within {seconds} s") from error
        raise AddressRefused(f"it leads on more than {MAX_REDIRECTS} times")

    async def _once(
        self, address: WebAddress, max_bytes: int, conditions: Mapping[str, str]
    ) -> Answer:
        lost: httpx.TransportError | None = None
        for ip in await self._checked(address):
            try:
                async with self._asked(address, ip, conditions) as response:
                    return await whole(address, response, max_bytes)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                lost = error
            except httpx.TransportError as error:
                raise Unreachable(f"the connection broke ({type(error).__name__})") from error
        raise Unreachable("it could not be connected to") from lost

    @asynccontextmanager
    async def _asked(
        self, address: WebAddress, ip: str, conditions: Mapping[str, str]
    ) -> AsyncIterator[httpx.Response]:
        """Ask the checked IP address, in the name of the host."""
        seconds = self.limits.request_seconds
        timeout = dict.fromkeys(("connect", "read", "write", "pool"), seconds)
        request = httpx.Request(
            "GET",
            httpx.URL(
                scheme=address.scheme,
                host=ip,
                port=address.port,
                raw_path=address.target.encode("ascii"),
            ),
            headers={
                "Host": address.authority,
                "User-Agent": self._agent,
                "Accept": "text/html, text/markdown, text/plain, */*;q=0.5",
                "Accept-Encoding": "identity",  # so that its size is known before it is unpacked
                **conditions,
            },
            extensions={"timeout": timeout, "sni_hostname": address.host},
        )
        response = await self._transport.handle_async_request(request)
        try:
            yield response
        finally:
            await response.aclose()

    async def _checked(self, address: WebAddress) -> Sequence[str]:
        """The IP addresses of a host, each of them one that may be asked."""
        names = {address.host, f"{address.host}:{address.port}", address.authority}
        allowed = not self._allowed.isdisjoint(names)
        if not allowed:
            check_name(address)
        key = address.host, address.port
        if key not in self._known:
            self._known[key] = asyncio.create_task(found(self._resolve, *key))
        ips = await asyncio.shield(self._known[key])
        if not allowed:
            for ip in ips:
                check_ip(ip)
        return ips


async def resolved(host: str, port: int) -> Sequence[str]:
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


async def found(resolve: Resolve, host: str, port: int) -> Sequence[str]:
    try:
        ips = await resolve(host, port)
    except OSError as error:
        raise Unreachable(f"there is no host {host}") from error
    if not ips:
        raise Unreachable(f"there is no host {host}")
    return ips


def led_to(asked: WebAddress, answer: Answer, *, home: WebAddress) -> WebAddress:
    """Where a redirect leads: it must stay on the site, and must not leave https."""
    target = parsed(urljoin(str(asked), answer.headers.get("location", "")))
    if target.site != home.site:
        raise AddressRefused(f"it leads to another host ({target.authority}); name that one")
    if asked.scheme == "https" and target.scheme == "http":
        raise AddressRefused("it leads from https to http")
    return target


async def whole(address: WebAddress, response: httpx.Response, max_bytes: int) -> Answer:
    """The whole answer, and never more than the bound."""
    headers = {name.lower(): value for name, value in response.headers.items()}
    if headers.get("content-encoding", "identity").lower() not in {"", "identity"}:
        raise AddressRefused("it comes packed, though that was not asked for")
    pieces: list[bytes] = []
    size = 0
    if response.status_code == 200:
        assert isinstance(response.stream, httpx.AsyncByteStream)
        async for piece in response.stream:
            size += len(piece)
            if size > max_bytes:
                raise AddressRefused(f"it is larger than {max_bytes:,} bytes")
            pieces.append(piece)
    return Answer(
        address=address, status=response.status_code, headers=headers, body=b"".join(pieces)
    )
