"""Which addresses are Slack's: our token and our answers go to no other."""

from __future__ import annotations

from urllib.parse import urlsplit

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


def is_slacks_own(url: str, api_base: str) -> bool:
    """Whether an address that came in an event is on the API's own host, or on slack.com."""
    try:
        place, api = urlsplit(url), urlsplit(api_base)
    except ValueError:
        return False
    own = place.netloc == api.netloc and place.scheme == api.scheme
    name = place.hostname or ""
    here = name in LOOPBACK and api.hostname in LOOPBACK  # whatever stands in, on this machine
    return (
        own
        or here
        or (place.scheme == "https" and (name == "slack.com" or name.endswith(".slack.com")))
    )
