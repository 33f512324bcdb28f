"""The web door: where it listens, who is let in, and whether the keys can be guessed."""

from __future__ import annotations

from adapters.steward import Finding
from adapters.web.config import SHORT_KEY, VARIABLE, parse_api_keys, short_keys
from bot.examination.look import in_place, warning
from bot.settings import Settings

NAME = "web door"
LONGER_KEYS = f"Put longer ones into {VARIABLE}; `openssl rand -hex 32` makes one."


def web_door(settings: Settings, listens_on: tuple[str, int] | None = None) -> Finding:
    """`listens_on` is where an open door really is: the settings may leave the port open."""
    host, port = listens_on or settings.listens_on
    where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    if settings.open_loopback:
        detail = f"{where}, open to every account and every forward of this machine without a key."
        return warning(NAME, detail, "Unset FOOTNOTE_OPEN_LOOPBACK; `footnote open` signs you in.")
    if not settings.api_keys:
        return in_place(NAME, f"{where}, for this machine only; `footnote open` signs you in.")
    keys = parse_api_keys(settings.api_keys.get_secret_value())
    detail = f"{where}, open to whoever holds one of the API keys"
    if short := short_keys(keys):
        return warning(NAME, f"{detail}; {guessable(short)}.", LONGER_KEYS)
    return in_place(NAME, f"{detail}.")


def guessable(short: tuple[int, ...]) -> str:
    """Which keys are meant; never the keys themselves."""
    numbers = ", ".join(map(str, short))
    named = f"key {numbers} is" if len(short) == 1 else f"keys {numbers} are"
    return f"{named} shorter than {SHORT_KEY} characters and could be guessed"
