"""Over TLS the checked IP address is connected to, and the name is what is asked and proven."""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import web

from rag_core.websites.address import parsed
from rag_core.websites.fetcher import Fetcher
from rag_core.websites.response import Unreachable
from tests.peers.loopback import serving

CERTIFICATE = Path(__file__).parents[1] / "peers" / "docs_example.pem"
"""Of `docs.example`, with its key, for nobody but these tests."""


@dataclass
class SecureSite:
    """A site over TLS; keeps the names that it was asked by."""

    port: int = 0
    by_handshake: list[str | None] = field(default_factory=list)
    by_request: list[str] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.Response:
        self.by_request.append(request.host)
        return web.Response(text="Here.")


@pytest.fixture
async def site() -> AsyncIterator[SecureSite]:
    secure = SecureSite()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(CERTIFICATE)
    context.sni_callback = lambda _, name, __: secure.by_handshake.append(name)
    app = web.Application()
    app.router.add_get("/{path:.*}", secure.answer)
    async with serving(app, tls=context) as host:
        secure.port = int(host.rpartition(":")[2])
        yield secure


@contextlib.asynccontextmanager
async def fetching(name: str) -> AsyncIterator[Fetcher]:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"]

    trust = ssl.create_default_context(cafile=str(CERTIFICATE))
    async with Fetcher(version="1", allowed=[name], resolve=resolve, trust=trust) as fetcher:
        yield fetcher


async def test_the_name_is_asked_for_and_its_certificate_checked(site: SecureSite) -> None:
    async with fetching("docs.example") as fetcher:
        answer = await fetcher.get(parsed(f"https://docs.example:{site.port}/x"), max_bytes=100)
    assert answer.body == b"Here."
    assert site.by_handshake == ["docs.example"]
    assert site.by_request == [f"docs.example:{site.port}"]


async def test_a_certificate_of_another_name_is_no_proof(site: SecureSite) -> None:
    async with fetching("other.example") as fetcher:
        with pytest.raises(Unreachable):
            await fetcher.get(parsed(f"https://other.example:{site.port}/x"), max_bytes=100)
    assert site.by_request == []
