"""A footnote's link leads on to the words that it quotes, where a browser can find them."""

from __future__ import annotations

from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.agent.checks.fragments import LONGEST, to_quoted

PAGE = "https://docs.example/limits"


@pytest.mark.parametrize(
    ("quoted", "directive"),
    [
        ("Ten questions an hour.", "Ten%20questions%20an%20hour."),
        ("Ask **ten** [questions](https://x.example/a) an `hour`",
         "Ask%20ten%20questions%20an%20hour"),
        ("- [x] Ten a day, at most", "Ten%20a%20day%2C%20at%20most"),
        ("a well-known rule & more", "a%20well%2Dknown%20rule%20%26%20more"),
        ("Grüße & Küsse", "Gr%C3%BC%C3%9Fe%20%26%20K%C3%BCsse"),
        ("Tea &amp; cake for all", "Tea%20%26%20cake%20for%20all"),
        ("The queue holds ten questions an hour for each member of the team, never more.",
         "The%20queue%20holds%20ten%20questions,of%20the%20team%2C%20never%20more."),
        ("One two three\nfour five six", "One%20two%20three,four%20five%20six"),
        ("| Plan | Ten seats a month | Fair use |", "Ten%20seats%20a%20month,Fair%20use"),
        ("Don't send more than ten.", "send%20more%20than%20ten."),
        ("The limit is ten questions an hour for ev…",
         "The%20limit%20is%20ten%20questions%20an%20hour%20for"),
        ("今日は良い天気です。明日は雨です。",
         "%E4%BB%8A%E6%97%A5%E3%81%AF%E8%89%AF%E3%81%84%E5%A4%A9%E6%B0%97%E3%81%A7%E3%81%99%E3%80%82"
         "%E6%98%8E%E6%97%A5%E3%81%AF%E9%9B%A8%E3%81%A7%E3%81%99%E3%80%82"),
    ],
)  # fmt: skip
def test_the_words_are_named_as_the_page_shows_them(quoted: str, directive: str) -> None:
    assert to_quoted(PAGE, quoted) == f"{PAGE}#:~:text={directive}"


def test_an_anchor_stays_for_browsers_that_find_no_words() -> None:
    assert to_quoted(f"{PAGE}#hours", "Ten a day") == f"{PAGE}#hours:~:text=Ten%20a%20day"


@pytest.mark.parametrize(
    ("url", "quoted"),
    [
        (None, "Ten questions an hour."),
        (f"{PAGE}.pdf#page=3", "Ten questions an hour."),
        (f"{PAGE}.PDF", "Ten questions an hour."),
        (f"{PAGE}#slide=3", "Ten questions an hour."),
        (f"{PAGE}#:~:text=Ten", "Ten questions an hour."),
        (PAGE, "Ten"),
        (PAGE, "…"),
        (PAGE, ""),
        (PAGE, "```python\nprint(1 + 1)\n```"),
        (PAGE, "`'x'` **'y'**"),
        (PAGE, f"{'你' * 100}。{'好' * 100}"),
    ],
)
def test_no_words_are_named_where_none_can_be_found(url: str | None, quoted: str) -> None:
    assert to_quoted(url, quoted) == url


@given(st.text(max_size=400))
def test_any_quote_makes_an_address_that_is_one(quoted: str) -> None:
    url = to_quoted(f"{PAGE}#hours", quoted)
    assert url is not None
    assert url.isascii()
    assert not set(url) & set(" <>\"'`()[]|\\\n")
    base, _, directive = url.partition(":~:text=")
    assert base == f"{PAGE}#hours"
    assert len(directive) <= LONGEST
    assert "-" not in directive
    assert directive.count(",") <= 1
    for term in filter(None, directive.split(",")):
        assert unquote(term).strip()
