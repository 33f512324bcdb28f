"""Pages of the web as files: named for their address, never outside of their folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.websites.address import AddressRefused, parsed
from rag_core.websites.mirror import Mirror, file_name
from rag_core.websites.response import Answer


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/", "docs.example/index.html"),
        ("/guide/", "docs.example/guide/index.html"),
        ("/guide/fitting.html", "docs.example/guide/fitting.html"),
        ("/a/../../etc/passwd", "docs.example/a/-/-/etc/passwd.html"),
        ("/%2e%2e/%2e%2e/x", "docs.example/-/-/x.html"),
        ("/..%2f..%2fx", "docs.example/-/-/x.html"),
        ("/.git/config", "docs.example/git/config.html"),
        ("/node_modules/x", "docs.example/-node_modules/x.html"),
        ("/__pycache__/x", "docs.example/-__pycache__/x.html"),
        ("/a%00b", "docs.example/a-b.html"),
        ("/v1.2", "docs.example/v1.2.html"),
    ],
)
def test_a_page_is_named_for_its_address(path: str, name: str) -> None:
    assert file_name(parsed(f"https://docs.example{path}"), ".html") == name


@given(st.text(max_size=400), st.text(max_size=60))
def test_no_address_leads_out_of_the_folder(path: str, query: str) -> None:
    try:
        address = parsed(f"https://docs.example/{path}?{query}")
    except AddressRefused:
        return
    name = Path(file_name(address, ".html"))
    assert not name.is_absolute()
    assert ".." not in name.parts
    assert not any(part.startswith(".") for part in name.parts)
    assert all(len(part.encode()) <= 240 for part in name.parts)


def test_pages_whose_names_fall_together_are_kept_apart(tmp_path: Path) -> None:
    mirror = Mirror(tmp_path)
    for path in ("/Guide", "/guide", "/guide.html", "/gui%64e"):
        address = parsed(f"https://docs.example{path}")
        body = path.encode()
        mirror.keep(
            address,
            Answer(address=address, status=200, headers={"content-type": "text/html"}, body=body),
        )
    addresses = mirror.addresses()
    assert len({str(path).lower() for path in addresses}) == len(addresses) == 4
    assert all(
        address.endswith(path.read_text(encoding="utf-8")) for path, address in addresses.items()
    )
