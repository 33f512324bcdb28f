"""Addresses that may be fetched: public ones, however they are spelled."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import quote, urlsplit

MAX_ADDRESS = 2_048
PORTS = {"http": 80, "https": 443}
HIGH_PORTS = 1_024
"""Below it only the web's own two: the others are mail, shells and the like."""
LOCAL_NAMES = ("localhost", "local", "internal", "intranet", "lan", "home.arpa", "onion")
NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+", re.IGNORECASE)
LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?")
SAFE_IN_PATH = "/-._~!$&'()*+,;=:@%"

FORBIDDEN_V4 = {
    IPv4Network(network): why
    for network, why in {
        "0.0.0.0/8": "this machine",
        "10.0.0.0/8": "a private network",
        "100.64.0.0/10": "a provider's network",
        "127.0.0.0/8": "this machine",
        "168.63.129.16/32": "a cloud's own services",
        "169.254.0.0/16": "a link-local network, with a cloud's own services",
        "172.16.0.0/12": "a private network",
        "192.0.0.0/24": "a reserved network",
        "192.0.2.0/24": "a reserved network",
        "192.31.196.0/24": "a reserved network",
        "192.52.193.0/24": "a reserved network",
        "192.88.99.0/24": "a reserved network",
        "192.168.0.0/16": "a private network",
        "192.175.48.0/24": "a reserved network",
        "198.18.0.0/15": "a reserved network",
        "198.51.100.0/24": "a reserved network",
        "203.0.113.0/24": "a reserved network",
        "224.0.0.0/4": "many machines at once",
        "240.0.0.0/4": "a reserved network",
    }.items()
}
PUBLIC_V6 = IPv6Network("2000::/3")
FORBIDDEN_V6 = (IPv6Network("2001::/23"), IPv6Network("2001:db8::/32"), IPv6Network("3fff::/20"))
CARRIES_V4 = {
    IPv6Network("::ffff:0:0/96"): 0,
    IPv6Network("::/96"): 0,
    IPv6Network("64:ff9b::/96"): 0,
    IPv6Network("64:ff9b:1::/48"): 0,
    IPv6Network("2002::/16"): 80,
}
"""Networks whose addresses stand for IPv4 ones, and how far from the right those are."""


class AddressRefused(ValueError):
    """An address that is not fetched; its text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebAddress:
    """An http or https address, in its one normal spelling."""

    scheme: str
    host: str
    port: int
    target: str
    """Path and query, as they are asked for."""

    @property
    def site(self) -> tuple[str, int]:
        """What must stay the same: the host, and the port unless it is the web's own."""
        return self.host, 0 if self.port == PORTS[self.scheme] else self.port

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"


def parsed(text: str) -> WebAddress:
    """The address that a text spells; what is no plain web address is refused."""
    if len(text) > MAX_ADDRESS:
        raise AddressRefused(f"it is longer than {MAX_ADDRESS} characters")
    if re.search(r"[\x00-\x20\x7f\\]", text):
        raise AddressRefused("it holds a space, a backslash or a control character")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise AddressRefused("it is not an address") from error
    if parts.scheme not in PORTS:
        raise AddressRefused("it is not an http or https address")
    if "@" in parts.netloc:
        raise AddressRefused("it holds a user name or password")
    if port is not None and port not in PORTS.values() and port < HIGH_PORTS:
        raise AddressRefused(f"port {port} is not one that websites have")
    query = f"?{quote(parts.query, safe=SAFE_IN_PATH + '?')}" if parts.query else ""
    return WebAddress(
        scheme=parts.scheme,
        host=normal_host(parts.hostname or ""),
        port=PORTS[parts.scheme] if port is None else port,
        target=(quote(parts.path, safe=SAFE_IN_PATH) or "/") + query,
    )


def normal_host(host: str) -> str:
    """A host in small ASCII letters; an IP address, whatever its spelling, in the usual one."""
    if ":" in host:
        try:
            return str(IPv6Address(host))  # one with a zone is of this machine's own networks
        except ValueError as error:
            raise AddressRefused("its host is not an address") from error
    try:
        name = host.encode("idna").decode("ascii").lower()
    except UnicodeError as error:
        raise AddressRefused("its host is not a name") from error
    name = name.removesuffix(".")
    labels = name.split(".")
    if not name or not all(LABEL.fullmatch(label) for label in labels):
        raise AddressRefused("its host is not a name")
    return str(spelled_v4(labels)) if NUMBER.fullmatch(labels[-1]) else name


def spelled_v4(labels: Collection[str]) -> IPv4Address:
    """An IPv4 address of one to four parts, each decimal, octal or hexadecimal."""
    try:
        *head, last = [number(label) for label in labels]
        if len(head) > 3 or any(part > 255 for part in head) or last >= 256 ** (4 - len(head)):
            raise ValueError  # noqa: TRY301 - one sentence for all of them
        value = sum(part << (24 - 8 * place) for place, part in enumerate(head)) + last
        return IPv4Address(value)
    except ValueError as error:
        raise AddressRefused("its host looks like an IP address and is none") from error


def number(label: str) -> int:
    if not NUMBER.fullmatch(label):
        raise ValueError
    if label.lower().startswith("0x"):
        return int(label[2:] or "0", 16)
    return int(label, 8 if len(label) > 1 and label.startswith("0") else 10)


def check_name(address: WebAddress) -> None:
    """Refuse a name that means this machine or its neighbours wherever it leads."""
    if any(f".{address.host}".endswith(f".{name}") for name in LOCAL_NAMES):
        raise AddressRefused(f"{address.host} is a name of this machine or its own network")


def check_ip(text: str) -> None:
    """Refuse an IP address that is not one of the public Internet."""
    address = ip_address(text.partition("%")[0])
    if reason := "a link-local network" if "%" in text else reason_against(address):
        raise AddressRefused(f"{text} is {reason}")


def reason_against(address: IPv4Address | IPv6Address) -> str | None:
    if isinstance(address, IPv4Address):
        return next((why for net, why in FORBIDDEN_V4.items() if address in net), None)
    for network, shift in CARRIES_V4.items():
        if address in network:
            inner = IPv4Address((int(address) >> shift) & 0xFFFFFFFF)
            why = reason_against(inner)
            return f"{inner} in other words: {why}" if why else embedded(network)
    if address not in PUBLIC_V6 or any(address in network for network in FORBIDDEN_V6):
        return "not an address of the public Internet"
    return None


def embedded(network: IPv6Network) -> str | None:
    """Some of these networks lead on to the public Internet; the others lead nowhere known."""
    passes = network in {IPv6Network("64:ff9b::/96"), IPv6Network("::ffff:0:0/96")}
    return None if passes else "not an address of the public Internet"
