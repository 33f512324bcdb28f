"""Only public addresses are fetched, however others are spelled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.websites.address import (
    FORBIDDEN_V4,
    AddressRefused,
    check_ip,
    check_name,
    parsed,
)
from rag_core.websites.fetcher import Fetcher
from rag_core.websites.response import Unreachable

FORBIDDEN = (
    "file:/etc/passwd",
    "ftp://example.com/x",
    "gopher://example.com:70/x",
    "javascript:alert(1)",
    "//example.com/x",
    "example.com",
    "http:/example.com",
    "http://",
    "http://user@example.com/",
    "http://user:word@example.com/",
    "http://example.com@127.0.0.1/",
    "http://@example.com/",
    "http://example.com\\@127.0.0.1/",
    "http://exa mple.com/",
    "http://example.com/\r\nHost: localhost",
    "http://example.com\t/",
    "http://example.com:22/",
    "http://example.com:99999/",
    "http://example.com:port/",
    "http://[::1/",
    "http://[1::2::3]/",
    "http://ex_ample..com/",
    "http://-example.com/",
    "http://%31%32%37.0.0.1/",
    f"http://{'a' * 64}.com/",
    f"http://example.com/{'a' * 2_100}",
    # this machine, in words
    "http://localhost/",
    "http://LOCALHOST:8080/",
    "http://localhost./",
    "http://any.localhost/",
    "http://printer.local/",
    "http://metadata.google.internal/",
    "http://router.lan/",
    "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/",
    # this machine, in numbers
    "http://127.0.0.1/",
    "http://127.0.0.1./",
    "http://127.1/",
    "http://127.0.1/",
    "http://2130706433/",
    "http://0177.0.0.1/",
    "http://0x7f.0.0.1/",
    "http://0x7f000001/",
    "http://0X7F.1/",
    "http://017700000001/",
    "http://0/",
    "http://0.0.0.0/",
    "http://127。0。0。1/",
    "http://１２７.０.０.１/",
    "http://127.0.0.1:8080/",
    "http://1.2.3.4.5/",
    "http://256.1.1.1/",
    "http://4294967296/",
    "http://09.1.1.1/",
    "http://[::1]/",
    "http://[::]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[64:ff9b::a00:1]/",
    "http://[64:ff9b:1::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[2002:a00:1::1]/",
    "http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/",
    # others that are near
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.1.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://0xa9fea9fe/",
    "http://168.63.129.16/",
    "http://100.64.0.1/",
    "http://100.100.100.200/",
    "http://198.18.0.1/",
    "http://224.0.0.1/",
    "http://239.255.255.255/",
    "http://255.255.255.255/",
    "http://[fe80::1]/",
    "http://[fe80::1%25eth0]/",
    "http://[fc00::1]/",
    "http://[fd00:ec2::254]/",
    "http://[fec0::1]/",
    "http://[ff02::1]/",
    "http://[2001:db8::1]/",
    "http://[100::1]/",
)
ALLOWED = {
    "https://example.com": "https://example.com/",
    "HTTPS://Example.COM:443/A?b=c#d": "https://example.com/A?b=c",
    "http://example.com.:8080/": "http://example.com:8080/",
    "https://bücher.example/ä ö".replace(
        " ", "%20"
    ): "https://xn--bcher-kva.example/%C3%A4%20%C3%B6",
    "http://93.184.216.34/x": "http://93.184.216.34/x",
    "http://0x5db8d822/": "http://93.184.216.34/",
    "https://[2606:2800:220:1::1]/": "https://[2606:2800:220:1::1]/",
    "http://[64:ff9b::5db8:d822]/": "http://[64:ff9b::5db8:d822]/",
    "http://localhost.example.com/": "http://localhost.example.com/",
}


def check(text: str) -> str:
    """Everything that is looked at before a name is resolved."""
    address = parsed(text)
    check_name(address)
    try:
        ip_address(address.host)
    except ValueError:
        return str(address)
    check_ip(address.host)
    return str(address)


@pytest.mark.parametrize("text", FORBIDDEN)
def test_what_is_not_public_is_refused_with_a_reason(text: str) -> None:
    with pytest.raises(AddressRefused) as refused:
        check(text)
    assert len(str(refused.value)) > 10


@pytest.mark.parametrize(("text", "normal"), ALLOWED.items())
def test_what_is_public_has_one_spelling(text: str, normal: str) -> None:
    assert check(text) == normal


def octal(value: int) -> str:
    return f"0{value:o}"


SPELLINGS: list[Callable[[int], str]] = [str, hex, octal, lambda value: f"0X{value:X}"]
FULL_WIDTH = str.maketrans("0123456789.", "０１２３４５６７８９。")


@st.composite
def spelled(draw: st.DrawFn) -> tuple[IPv4Address, str]:
    """An address of a network that is not public, in one of its many spellings."""
    network = draw(st.sampled_from(sorted(FORBIDDEN_V4)))
    value = int(network[0]) + draw(st.integers(0, network.num_addresses - 1))
    parts = draw(st.integers(1, 4))
    head = [(value >> (24 - 8 * place)) & 0xFF for place in range(parts - 1)]
    last = value & ((1 << (32 - 8 * (parts - 1))) - 1)
    text = ".".join(draw(st.sampled_from(SPELLINGS))(part) for part in [*head, last])
    text = draw(st.sampled_from([text, text + ".", text.translate(FULL_WIDTH)]))
    v6 = draw(st.sampled_from([None, "::ffff:0:0", "::", "64:ff9b::", "64:ff9b:1::"]))
    if v6 is not None:
        text = f"[{IPv6Address(int(IPv6Address(v6)) | value)}]"
    return IPv4Address(value), text


@given(spelled())
def test_no_spelling_of_a_network_that_is_not_public_gets_through(
    made: tuple[IPv4Address, str],
) -> None:
    with pytest.raises(AddressRefused):
        check(f"http://{made[1]}/")


@given(st.text(max_size=60))
def test_any_text_is_an_address_or_refused(text: str) -> None:
    for candidate in (text, f"http://{text}", f"https://{text}/{text}"):
        try:
            address = parsed(candidate)
        except AddressRefused:
            continue
        assert parsed(str(address)) == address
        assert str(address).isascii()


def fetcher(*answers: Sequence[str]) -> tuple[Fetcher, list[str]]:
    """A fetcher whose names lead where they are told to, in turn."""
    asked: list[str] = []

    async def resolve(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        return answers[min(len(asked), len(answers)) - 1]

    return Fetcher(version="test", resolve=resolve), asked


@pytest.mark.parametrize(
    "ips",
    [
        ["127.0.0.1"],
        ["::1"],
        ["::ffff:10.0.0.1"],
        ["fe80::1%2"],
        ["93.184.216.34", "192.168.0.1"],
        ["2606:2800:220:1::1", "fd00::1"],
    ],
)
async def test_a_name_that_leads_to_a_near_network_is_refused(ips: list[str]) -> None:
    opened, _ = fetcher(ips)
    async with opened:
        with pytest.raises(AddressRefused, match=" is "):
            await opened.get(parsed("http://rebinding.example/"), max_bytes=10)


async def test_a_name_that_leads_nowhere_is_not_an_error_of_ours() -> None:
    opened, _ = fetcher([])
    async with opened:
        with pytest.raises(Unreachable, match=r"no host nowhere\.example"):
            await opened.get(parsed("http://nowhere.example/"), max_bytes=10)
