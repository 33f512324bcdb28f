"""Opens the page in a browser, signed in, where whoever calls has a desktop."""

from __future__ import annotations

import os
import threading
import webbrowser
from html import escape
from pathlib import Path

from bot.door import folder_errors
from bot.settings import has_desktop

FILE = "open.html"
BROWSER_SECONDS = 5.0
"""How long a browser may take to come up before the link is printed instead."""
PAGE = """<!doctype html>
<meta charset="utf-8">
<title>Footnote</title>
<meta http-equiv="refresh" content="0; url={link}">
<p><a href="{link}">Open Footnote</a></p>
"""


EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - the names are only read here


def page_address(host: str, port: int) -> str:
    """Where a browser of this machine finds the page."""
    name = EVERYWHERE.get(host, host)
    return f"http://[{name}]:{port}/" if ":" in name else f"http://{name}:{port}/"


def sign_in_link(address: str, key: str | None) -> str:
    """What signs a browser in; without a local key it asks for one of the API keys."""
    return address if key is None else f"{address}?key={key}"


def open_page(link: str, folder: Path) -> bool:
    """Whether a browser was opened. It is handed a file of this user's that leads to the link,
    because every account of the machine may read the arguments of a program."""
    if not has_desktop():
        return False
    browser = graphical_browser()
    if browser is None:
        return False
    page = write_page(link, folder)
    opened = threading.Event()

    def call() -> None:
        if browser.open(page.as_uri()):
            opened.set()

    calling = threading.Thread(target=call, daemon=True, name="browser")
    calling.start()
    calling.join(BROWSER_SECONDS)
    return opened.is_set()


def graphical_browser() -> webbrowser.BaseBrowser | None:
    """None: there is none, or it would take over the terminal."""
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return None
    return None if type(browser) is webbrowser.GenericBrowser else browser


def write_page(link: str, folder: Path) -> Path:
    """The file that leads a browser to the link, readable by this user alone."""
    page = folder / FILE
    with folder_errors(folder):
        page.unlink(missing_ok=True)
        descriptor = os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(PAGE.format(link=escape(link)))
    return page.resolve()
