"""A website on loopback, with robots.txt, sitemap, changing pages, and doors that lead astray."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

from aiohttp import web

from tests.peers.loopback import serving


@dataclass
class WebsitePeer:
    """Serves what it is given; keeps every request that it heard."""

    pages: dict[str, str | bytes] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    """Media types other than Markdown's, by path."""
    redirects: dict[str, str] = field(default_factory=dict)
    troubles: dict[str, list[int]] = field(default_factory=dict)
    """Statuses that a path answers with before it answers well."""
    headers: dict[str, Mapping[str, str]] = field(default_factory=dict)
    heard: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)
    url: str = ""

    @property
    def host(self) -> str:
        return self.url.removeprefix("http://")

    def sitemap(self, *paths: str, at: str = "/sitemap.xml") -> str:
        """Put up a sitemap; its address."""
        listed = "".join(f"<url><loc>{self.address(path)}</loc></url>" for path in paths)
        name = "http://www.sitemaps.org/schemas/sitemap/0.9"
        self.pages[at] = f'<?xml version="1.0"?><urlset xmlns="{name}">{listed}</urlset>'
        self.kinds[at] = "application/xml"
        return self.address(at)

    def address(self, path: str) -> str:
        return path if "://" in path else f"{self.url}{path}"

    async def answer(self, request: web.Request) -> web.Response:
        path = request.path_qs
        self.heard.append(path)
        self.hosts.add(request.host)
        if self.troubles.get(path):
            return web.Response(status=self.troubles[path].pop(0), headers=self.headers.get(path))
        if path in self.redirects:
            return web.Response(status=302, headers={"Location": self.redirects[path]})
        if path not in self.pages:
            return web.Response(status=404)
        page = self.pages[path]
        body = page.encode() if isinstance(page, str) else page
        tag = f'"{hashlib.sha256(body).hexdigest()[:12]}"'
        if request.headers.get("If-None-Match") == tag:
            return web.Response(status=304, headers={"ETag": tag})
        kind = self.kinds.get(path, "text/markdown")
        headers = {"ETag": tag, "Content-Type": kind, **self.headers.get(path, {})}
        return web.Response(body=body, headers=headers)


@contextlib.asynccontextmanager
async def website_peer() -> AsyncIterator[WebsitePeer]:
    """The server on a free loopback port."""
    peer = WebsitePeer()
    app = web.Application()
    app.router.add_get("/{path:.*}", peer.answer)
    async with serving(app) as host:
        peer.url = f"http://{host}"
        yield peer
