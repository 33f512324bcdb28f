"""A way to a real server on which the next requests may fail."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import ClientSession, web

from tests.peers.faults import Fault, Faults
from tests.peers.loopback import serving

LARGEST = 64 * 1024**2


@asynccontextmanager
async def unreliable(url: str, *faults: Fault) -> AsyncIterator[tuple[str, Faults]]:
    """The address of the way, and the faults that will happen on it; more may be added."""
    script = Faults(list(faults))
    async with ClientSession() as session:

        async def pass_on(request: web.Request) -> web.Response:
            if fault := await script.next(request):
                return fault
            async with session.request(
                request.method,
                url.rstrip("/") + request.path_qs,
                data=await request.read(),
                headers={"Content-Type": "application/json"},
            ) as answer:
                body = await answer.read()
                return web.Response(
                    body=body, status=answer.status, content_type="application/json"
                )

        app = web.Application(client_max_size=LARGEST)
        app.router.add_route("*", "/{path:.*}", pass_on)
        async with serving(app) as host:
            yield f"http://{host}/", script
