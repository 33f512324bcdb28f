"""Where a request comes from: this computer or not, through a proxy or not, from which page."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import Scope

from adapters.web.config import WebConfig
from adapters.web.guarding.problems import Problem

LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
FORWARDING = frozenset(
    {
        "forwarded",
        "via",
        "x-real-ip",
        "x-client-ip",
        "x-cluster-client-ip",
        "x-original-forwarded-for",
        "x-original-host",
        "x-originating-ip",
        "x-remote-ip",
        "x-remote-addr",
        "x-proxyuser-ip",
        "x-envoy-external-address",
        "x-appengine-user-ip",
        "x-azure-clientip",
        "x-azure-socketip",
        "client-ip",
        "true-client-ip",
        "cf-connecting-ip",
        "cf-connecting-ipv6",
        "cf-ray",
        "fastly-client-ip",
        "fly-client-ip",
        "do-connecting-ip",
        "cdn-loop",
        "proxy-connection",
        "x-arr-ssl",
    }
)
"""What proxies, tunnels and content networks add, besides everything below these:"""
FORWARDING_FAMILIES = ("x-forwarded", "x-amzn-", "x-amz-cf-", "cf-", "x-vercel-", "x-nf-")


def check_client(scope: Scope) -> None:
    """Without API keys this computer is served alone."""
    client = scope.get("client")
    if client is None or not is_loopback(client[0]):
        raise Problem(403, "Without API keys only this machine is served. See FOOTNOTE_API_KEYS.")


def check_not_forwarded(headers: Headers) -> None:
    """Where no key is asked for, nothing is served through a proxy."""
    for name in headers:
        if name in FORWARDING or name.startswith(FORWARDING_FAMILIES):
            raise Problem(403, f"Without a key nothing is served through a proxy ({name}).")


def check_host(headers: Headers, config: WebConfig) -> None:
    """A browser that was led here under a strange name (DNS rebinding) is refused.

    With API keys an address is as good as a name of ours: nobody can make a name of it. Without
    a public address the names of the machine are not known, and a cookie is bound to its name."""
    name = host_name(headers.get("host", ""))
    if name in LOCAL_NAMES:
        return
    if config.is_local_only:
        raise Problem(403, "Without API keys this is served as localhost only.")
    if config.public_url is None or name == host_of(config.public_url) or is_address(name):
        return
    raise Problem(403, f"Nothing is served under this name. Open {config.public_url}")


def check_page(headers: Headers, scope: Scope, config: WebConfig) -> None:
    """What a browser sends for another site's page is refused."""
    check_host(headers, config)
    origin = headers.get("origin")
    if origin is not None and origin_host(origin) not in own_hosts(headers, config):
        raise Problem(403, "Another site's page may not ask here.")
    foreign = headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}
    if foreign and not is_navigation(headers, scope):
        raise Problem(403, "Another site's page may not ask here.")


def own_hosts(headers: Headers, config: WebConfig) -> set[str]:
    """The name that the browser asked for, and the one that a proxy may have put another for."""
    public = urlsplit(config.public_url).netloc if config.public_url else ""
    return {name for name in (headers.get("host", ""), public) if name}


def is_navigation(headers: Headers, scope: Scope) -> bool:
    """Somebody followed a link to one of our pages."""
    return scope["method"] == "GET" and headers.get("sec-fetch-mode") == "navigate"


def is_loopback(address: str) -> bool:
    try:
        ip = ip_address(address)
    except ValueError:
        return False
    mapped = getattr(ip, "ipv4_mapped", None)
    return ip.is_loopback or (mapped is not None and mapped.is_loopback)


def is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def origin_host(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


def host_name(host: str) -> str:
    return host_of(f"//{host}")


def host_of(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""
