"""What a site says about itself to programs."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.websites.robots import Robots, Rule
from rag_core.websites.sitemap import Sitemap, SitemapRefused, is_sitemap, read_sitemap

MEGABYTE = 1024 * 1024


def robots(*lines: str) -> Robots:
    return Robots.read("\n".join(lines), agent="footnote")


def test_the_group_for_us_holds_instead_of_the_one_for_all() -> None:
    said = robots("User-agent: *", "Disallow: /", "", "User-Agent: other", "User-agent: FootNote/2")
    assert said.allows("/docs")
    said = robots("User-agent: *", "Disallow: /a", "User-agent: footnote", "Disallow: /b")
    assert (said.allows("/a"), said.allows("/b/c")) == (True, False)


def test_the_longest_rule_decides_and_the_kinder_one_where_they_tie() -> None:
    said = robots(
        "User-agent: *", "Disallow: /docs", "Allow: /docs/open", "Allow: /x", "Disallow: /x"
    )
    assert not said.allows("/docs/closed")
    assert said.allows("/docs/open/page")
    assert said.allows("/x/y")
    assert said.allows("/")


def test_no_rules_or_empty_ones_forbid_nothing() -> None:
    assert robots().allows("/any")
    assert robots("User-agent: *", "Disallow:").allows("/any")
    assert robots("Disallow: /", "not a rule").allows("/any")


@pytest.mark.parametrize(
    ("pattern", "target", "fits"),
    [
        ("/*.pdf$", "/a/b.pdf", True),
        ("/*.pdf$", "/a/b.pdf?x", False),
        ("/a*c", "/abbbc/d", True),
        ("/a*b*c$", "/a-b-c", True),
        ("/a*b*c$", "/a-c-b", False),
        ("/a$", "/a", True),
        ("/a$", "/ab", False),
        ("*", "/any", True),
        ("/ab*ba$", "/aba", False),
    ],
)
def test_stars_stand_for_anything_and_a_dollar_for_the_end(
    pattern: str, target: str, fits: bool
) -> None:
    assert Rule(pattern, allows=False).fits(target) is fits


def test_delays_and_sitemaps_are_heard_and_delays_have_a_bound() -> None:
    said = robots("Sitemap: https://x.example/a.xml", "User-agent: *", "Crawl-delay: 99999")
    assert (said.delay, said.sitemaps) == (10.0, ("https://x.example/a.xml",))
    assert robots("User-agent: *", "Crawl-delay: soon").delay == 0


def sitemap(inner: str, *, root: str = "urlset", head: str = "") -> bytes:
    name = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    return f"{head}<{root} {name}>{inner}</{root}>".encode()


def read(content: bytes, *, most: int = 100) -> Sitemap:
    return read_sitemap(content, most=most, max_bytes=MEGABYTE)


def test_pages_and_further_sitemaps_are_told_apart() -> None:
    pages = "<url><loc> https://x.example/a </loc><lastmod>2026</lastmod></url>" * 2
    assert read(sitemap(pages)).pages == ("https://x.example/a",) * 2
    assert read(sitemap(pages), most=1).pages == ("https://x.example/a",)
    index = "<sitemap><loc>https://x.example/b.xml</loc></sitemap>"
    assert read(sitemap(index, root="sitemapindex")).sitemaps == ("https://x.example/b.xml",)
    image = "<url><image:image xmlns:image='i'><image:loc>https://y</image:loc></image:image></url>"
    assert read(sitemap(image)).pages == ()
    assert read(gzip.compress(sitemap(pages))) == read(sitemap(pages))
    assert read(b"\xef\xbb\xbfhttps://x.example/a\r\nhttps://x.example/b\n").pages == (
        "https://x.example/a",
        "https://x.example/b",
    )
    assert is_sitemap("/sitemap.xml?x=1")
    assert not is_sitemap("/sitemap")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (sitemap("", head='<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'), "declares"),
        (sitemap("", head='<!DOCTYPE x SYSTEM "http://127.0.0.1/">'), "declares"),
        (gzip.compress(b"0" * (2 * MEGABYTE), mtime=0), "larger than 1 MB when unpacked"),
        (gzip.compress(sitemap(""), mtime=0)[:-4] + b"junk", "damaged"),
        (b"<urlset><url>", "not well-formed"),
        (b"<html><body>Not found</body></html>", "not a sitemap"),
        (b"not found", "not a sitemap"),
    ],
)
def test_hostile_and_broken_sitemaps_are_refused(content: bytes, reason: str) -> None:
    with pytest.raises(SitemapRefused, match=reason):
        read(content)


@given(st.binary(max_size=300))
def test_any_bytes_are_a_sitemap_or_refused(content: bytes) -> None:
    for tried in (content, b"<urlset>" + content + b"</urlset>", b"\x1f\x8b" + content):
        try:
            read(tried)
        except SitemapRefused:
            continue
