"""One tab, used as a person uses it: by pointer and by keys; it notes whatever goes wrong."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx

from tests.browser.devtools import PATIENCE, DevTools, DevToolsError

KEYS = {
    "Enter": ("Enter", 13, "\r"),
    "Space": (" ", 32, " "),
    "Tab": ("Tab", 9, ""),
    "Escape": ("Escape", 27, ""),
}
PLACE = """(() => {
  const found = document.querySelector(%s);
  if (!found) return null;
  found.scrollIntoView({ block: "center", behavior: "instant" });
  const { left, top, width, height } = found.getClientRects()[0] ?? { width: 0 };
  if (!width) return null;
  const x = left + width / 2, y = top + height / 2;
  const hit = document.elementFromPoint(x, y);
  return hit && (found.contains(hit) || hit.contains(found)) ? { x, y } : null;
})()"""


@dataclass
class Tab:
    """A tab that has its own cookies and storage."""

    devtools: DevTools
    session: str
    base: str
    complaints: list[str] = field(default_factory=list)
    """What the console said in anger: errors, warnings, broken content rules."""
    asked_for: list[str] = field(default_factory=list)
    """Every address that the page loaded."""

    async def do(self, method: str, **params: Any) -> dict[str, Any]:
        return await self.devtools.send(method, self.session, **params)

    def hear(self, method: str, params: dict[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            self.asked_for.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(params["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in {"error", "warning"}:
            self.complaints.append(json.dumps(params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in {"error", "warning"}:
            self.complaints.append(json.dumps(params["entry"]))

    @property
    def strangers(self) -> list[str]:
        """Addresses of anybody but the house."""
        own = urlsplit(self.base).netloc
        parts = [(address, urlsplit(address)) for address in self.asked_for]
        return [a for a, part in parts if part.scheme != "data" and part.netloc != own]

    async def go(self, path: str = "/") -> None:
        await self.do("Page.navigate", url=f"{self.base}{path}")
        await self.until(
            f"document.readyState === 'complete' && location.href === {quoted(self.base + path)}"
        )

    async def reload(self) -> None:
        await self.run("window.old = true")
        await self.do("Page.reload")
        await self.until("!window.old && document.readyState === 'complete'")

    async def run(self, script: str) -> Any:
        """The value of an expression, waited for."""
        done = await self.do(
            "Runtime.evaluate",
            expression=script,
            awaitPromise=True,
            returnByValue=True,
            userGesture=True,
        )
        if "exceptionDetails" in done:
            raise DevToolsError(json.dumps(done["exceptionDetails"]))
        return done["result"].get("value")

    async def until(self, script: str) -> Any:
        """Wait for an expression to become true; a page may be left on the way."""
        value, last = None, None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                while not value:
                    try:
                        value = await self.run(f"(v => v instanceof Node || v)({script})")
                    except DevToolsError as error:
                        last = error
                    await asyncio.sleep(0 if value else 0.02)
        assert value, f"never came true: {script} {last or ''} {self.complaints}"
        return value

    async def click(self, css: str) -> None:
        """Point at the middle of an element that is really seen there, and click."""
        at = await self.until(PLACE % quoted(css))
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            button = {"button": "none"} if kind == "mouseMoved" else {"button": "left"}
            await self.do("Input.dispatchMouseEvent", type=kind, clickCount=1, **at, **button)

    async def write(self, text: str) -> None:
        await self.do("Input.insertText", text=text)

    async def press(self, *names: str, shift: bool = False) -> None:
        for name in names:
            key, code, text = KEYS[name]
            pressed = {
                "key": key,
                "code": name,
                "windowsVirtualKeyCode": code,
                "modifiers": 8 if shift else 0,
            }
            down = {"type": "keyDown", "text": text} if text else {"type": "rawKeyDown"}
            await self.do("Input.dispatchKeyEvent", **pressed, **down)
            await self.do("Input.dispatchKeyEvent", **pressed, type="keyUp")

    async def tab_to(self, css: str, *, within: int = 40) -> None:
        """Press Tab until an element has the focus, and can be seen to have it."""
        for _ in range(within):
            await self.press("Tab")
            if await self.run(f"document.activeElement.matches({quoted(css)})"):
                assert await self.run("document.activeElement.matches(':focus-visible')")
                return
        raise AssertionError(f"{within} tabs never reached {css}")

    async def text(self, css: str) -> str:
        return str(await self.until(f"document.querySelector({quoted(css)})?.innerText"))

    async def count(self, css: str) -> int:
        return int(await self.run(f"document.querySelectorAll({quoted(css)}).length"))

    async def ask(self, question: str) -> None:
        await self.click("#question")
        await self.write(question)
        await self.press("Enter")

    async def answered(self, times: int = 1) -> str:
        """The last answer, once there are so many."""
        await self.until(f"document.querySelectorAll('[data-answer]').length === {times}")
        await self.until("!document.querySelector('[aria-busy]')")
        return await self.text(".exchange:last-child .prose")

    async def size(self, width: int, height: int, *, mobile: bool = False) -> None:
        await self.do(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=mobile,
        )

    async def prefer(self, **features: str) -> None:
        named = [{"name": k.replace("_", "-"), "value": v} for k, v in features.items()]
        await self.do("Emulation.setEmulatedMedia", features=named)

    async def findings(self, axe: str) -> list[str]:
        """What axe finds on the page as it stands, serious and worse."""
        await self.run(f"{axe}; null")
        found = await self.run("axe.run(document, { resultTypes: ['violations'] })")
        return [
            f"{fault['id']}: {[node['html'] for node in fault['nodes']]}"
            for fault in found["violations"]
            if fault["impact"] in {"serious", "critical"}
        ]


@contextlib.asynccontextmanager
async def open_tab(devtools: DevTools, base: str, *, key: str = "") -> AsyncIterator[Tab]:
    """A tab in a context of its own, signed in with the local key; closed at the end."""
    context = (await devtools.send("Target.createBrowserContext"))["browserContextId"]
    target = await devtools.send(
        "Target.createTarget", url="about:blank", browserContextId=context, width=1280, height=860
    )
    attached = await devtools.send(
        "Target.attachToTarget", targetId=target["targetId"], flatten=True
    )
    tab = Tab(devtools, attached["sessionId"], base.rstrip("/"))
    devtools.listen(tab.session, tab.hear)
    for domain in ("Page", "Runtime", "Network", "Log"):
        await tab.do(f"{domain}.enable")
    await tab.prefer(prefers_reduced_motion="reduce", prefers_color_scheme="light")
    if key:
        await sign_in(tab, key)
    try:
        yield tab
    finally:
        await devtools.send("Target.disposeBrowserContext", browserContextId=context)


async def sign_in(tab: Tab, key: str) -> None:
    """Give the browser the cookie of the sign-in link; it has loaded nothing yet."""
    async with httpx.AsyncClient(base_url=tab.base) as web:
        await web.get("/", params={"key": key})
        (cookie,) = web.cookies.jar
    await tab.do(
        "Network.setCookie",
        name=cookie.name,
        value=cookie.value,
        url=tab.base,
        httpOnly=True,
        sameSite="Lax",
    )


def quoted(text: str) -> str:
    """A text as JavaScript writes it."""
    return json.dumps(text)
