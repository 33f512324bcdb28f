"""What leaves can do nothing but be read."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from rag_core.agent.checks.guard import GuardedText, guarded
from rag_core.text.visible import visible

EVIL = "https://evil.example/a?b=c"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[docs](https://evil.example)", "docs (`https://evil.example`)"),
        ('[docs](https://evil.example "title")', "docs (`https://evil.example`)"),
        ("[docs](<https://evil.example>)", "docs (`https://evil.example`)"),
        ("[https://a.example](https://a.example)", "`https://a.example`"),
        ("[ownership](ch04-01.md)", "ownership"),
        ("[a](javascript:alert)", "a"),
        ("![chart](https://evil.example/p.png)", ""),
        ("![chart][ref]", "![chart][ref]"),
        ("![chart][ref]\n\n[ref]: https://evil.example", ""),
        ("[text][ref]\n\n[ref]: https://evil.example", "text (`https://evil.example`)"),
        ("Ten [1].\n\n[1]: https://evil.example", "Ten [1]."),
        ("see <https://evil.example>", "see `https://evil.example`"),
        ("see <https://evil.example|the docs>", "see the docs (`https://evil.example`)"),
        ("write to <a@b.example>", "write to a@b.example"),
        ("www.evil.example/x is it", "`www.evil.example/x` is it"),
        ("go to evil.com/path now", "go to `evil.com/path` now"),
        ("https://evil.example.", "`https://evil.example`."),
        ('<a href="https://evil.example">here</a>', "here"),
        ("<img src=x onerror=alert(1)>", ""),
        ("a <!-- hidden --> b", "a  b"),
    ],
)
def test_links_and_images_are_words(text: str, expected: str) -> None:
    assert guarded(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "@everyone", "@here", "@\u200beveryone", "＠everyone", "@\u2060here", "&commat;everyone",
        "&#64;everyone", "&#x40;here", "@EVERYONE", "@\u202eeveryone", "<!channel>", "<!here|here>",
        "<!everyone>", "&lt;!channel&gt;", "＜!channel＞", "<@U0123ABCD>", "<@!123456789012345678>",
        "<@&987654321098765432>", "<#123456789012345678>", "<#C0123|general>",
        "<!subteam^S0123|@team>", "<\u200b@123>", "<@U0123|bob>", "</ban:1234>", "<@1\u200d23>",
    ],
)  # fmt: skip
def test_mentions_call_nobody(text: str) -> None:
    passed = guarded(f"well {text} done")
    assert not re.search(r"@(?:everyone|here|channel)\b", passed, re.IGNORECASE)
    assert not re.search(r"<[@#!/]", passed)
    assert passed.startswith("well")
    assert passed.endswith("done")


@pytest.mark.parametrize(
    "text",
    [
        "```python\nprint('@everyone', \"https://a.example\")\n# [x](y) ![z](w) <b>\n```",
        "Use `<@id>` and `[label](https://a.example)` in a message.",
        "Run `curl https://a.example/x` first.",
        "``a ` b``",
        "- one\n- two\n\n1. three\n\n| a | b |\n|---|---|\n| 1 | 2 |",
        "Ten a day [1]. See also [2][3].",
        "if a < b and b > c then a[0] is x & y",
        "Vec<T> is generic; C++ and C# too; 50% of AT&T",
        "mail me @ home; @app.route is a decorator",
        "שלום עולם, مرحبا بالعالم",
        "family 👨\u200d👩\u200d👧 and ❤\ufe0f",
    ],
)
def test_what_is_harmless_stays_as_it_is(text: str) -> None:
    assert guarded(text) == text


def test_an_open_fence_is_closed() -> None:
    assert guarded("```python\nprint(1)") == "```python\nprint(1)\n```"


def test_fences_that_chat_clients_do_not_know_become_common_ones() -> None:
    assert guarded("~~~sh\n<!channel>\n~~~\nx") == "```sh\n<!channel>\n```\nx"
    assert guarded("~~~\n```\na\n~~~") == "````\n```\na\n````"


@pytest.mark.parametrize("mark", ["*", "**", "~~"])
def test_emphasis_may_be_nested_as_deep_as_it_likes(mark: str) -> None:
    passed = guarded(f"{mark}a " * 1_500 + f"a{mark} " * 1_500)
    assert passed.count("a") == 3_000


def test_a_stray_code_mark_hides_nothing() -> None:
    assert guarded("a ` b https://evil.example") == "a ' b `https://evil.example`"
    assert guarded("a `\n\n@everyone` b") == "a '\n\n@ everyone' b"
    assert guarded("a `\n@everyone` b") == "a ` @everyone` b"


def test_only_what_is_visible_remains() -> None:
    assert visible("a\u200bb\u202ec\u2066d\ufeffe\u00adf\x07g") == "abcdefg"
    assert visible("e\u0301\r\nx") == "é\nx"


PIECES = st.lists(
    st.sampled_from(
        ["[", "]", "(", ")", "<", ">", "!", "@", "everyone", "here", "#", "`", "```", "\n", " ",
         "https://e.vil/", "www.e.vil", "[1]", "a", "&lt;", "&#64;", "\u200b", "\\", '"', ":", "|",
         "channel", "123", "~~~", "javascript:", "*", "_", "^"]
    ), max_size=25,
).map("".join)  # fmt: skip


def outside_code(text: str) -> str:
    """What a reader's client may act on: the text without its code."""
    text = re.sub(r"^[ \t>]*(`{3,}|~{3,})[^`\n]*\n.*?(?:^[ \t>]*\1[`~]*[ \t]*$|\Z)", "", text,
                  flags=re.DOTALL | re.MULTILINE)  # fmt: skip
    return re.sub(r"(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)", "code", text)


@given(PIECES)
def test_no_composition_gets_through(text: str) -> None:
    passed = guarded(text)
    assert isinstance(passed, GuardedText)
    open_text = outside_code(passed)
    assert not re.search(r"https?://|(?<![a-z0-9])www\.e", open_text)
    assert "](" not in open_text
    assert not re.search(r"<[@#!]\w", open_text)
    assert not re.search(r"@(?:everyone|here|channel)\b", open_text)


@given(PIECES)
def test_a_reader_of_markdown_finds_no_link_and_no_image(text: str) -> None:
    page = MarkdownIt("commonmark", {"html": False}).render(guarded(text))
    assert "<a " not in page
    assert "<img" not in page


@given(PIECES)
def test_passing_twice_changes_nothing(text: str) -> None:
    once = guarded(text)
    assert guarded(once) == once
