"""Any answer becomes messages that Discord accepts: in order, whole, and calling nobody."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adapters.discord.answering.post import Post
from adapters.discord.answering.renderer import DiscordRenderer
from adapters.discord.wording import escaped, link_target, thread_title, units
from rag_core.agent.answer import AgentResponse, Outcome, Source, Suggestion
from rag_core.agent.checks.guard import GuardedText, guarded
from rag_core.agent.confidence.level import ConfidenceLevel
from rag_core.desk.outgoing import Rung
from tests.builders import a_citation, a_question, a_response
from tests.peers.discord_rules import check_message, check_thread

PIECES = st.one_of(
    st.text(min_size=1, max_size=80),
    st.sampled_from(
        [
            "A sentence [1]. Another one [2]!",
            "汉字没有空格所以很难在哪里断开。",
            "👩🏽‍💻🏳️‍🌈🇩🇪e\u0301",
            "```python\nprint('hello')  # @everyone\n```",
            "~~~\nraw\n~~~",
            "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | `x` |",
            "1. first\n2. second\n   - inner",
            "# Heading",
            "@everyone <@123456789012345678> <#1> <@&2> </ask:3> <id:browse>",
            "```",
            "`",
            "x" * 300,
            "[link](https://docs.example/a_(b)?c=d)",
            "\n\n",
        ]
    ),
)
ANSWERS = st.tuples(
    st.lists(PIECES, min_size=1, max_size=12), st.sampled_from(["\n\n", "\n", " ", ""]),
    st.sampled_from([1, 1, 1, 5, 60]),
).map(lambda made: (made[1].join(made[0]) + made[1]) * made[2])  # fmt: skip
LIVE = re.compile(r"@everyone|@here|<@[!&]?\d+>|<#\d+>")
CODE = re.compile(r"```.*?```|``.+?``|`[^`\n]+`", re.DOTALL)
ODD_LANGUAGE = re.compile(r"~{3,}[^\r\n]*`")
"""A language after a fence that holds a backtick: no name of a language, and no client shows it."""
SHOWN = ANSWERS.filter(lambda text: bool(text.strip()) and not ODD_LANGUAGE.search(text))
LOST_CELLS = ("0 0 0 0 0 0 0000|000\n-----|\n00000000000000000 " * 40).strip()
"""Cut as text, its second half is read as a table whose rows have more cells than its head."""
COUNT = re.compile(r"\n-# \d+/\d+$")


def render(response: AgentResponse, **question: Any) -> list[str]:
    payloads = DiscordRenderer().render(response, a_question(**question))
    return [json.loads(payload)["content"] for payload in payloads]


def accepted(parts: list[str]) -> None:
    for part in parts:
        check_message({"content": part, "nonce": "0" * 24, "enforce_nonce": True, "flags": 4})
        assert len(part) <= 1_900


def bare(text: str) -> str:
    """What must not be lost: everything but white space and the marks of Markdown."""
    return "".join(sign for sign in "".join(text.split()) if sign not in "\u200b*#-+~`_\\'.)=|>")


def holds_in_order(whole: str, part: str) -> bool:
    characters = iter(whole)
    return all(character in characters for character in part)


@example("~~~\n~~~`")
@example(LOST_CELLS)
@example("x" * 100_000)
@example("語" * 33_000)
@example("```py\n" + "print('hello')\n" * 6_600 + "```")
@example("| a | b |\n|---|---|\n" + "| one | two |\n" * 7_000)
@given(SHOWN)
def test_any_answer_is_accepted_whole_and_in_order(answer: str) -> None:
    answer = guarded(answer) or "…"
    parts = render(a_response(answer))
    accepted(parts)
    assert len(set(parts)) == len(parts)
    shown = "".join(bare(COUNT.sub("", part)) for part in parts)
    assert holds_in_order(shown, bare(answer))
    assert "[1] [Limits › Daily](<https://docs.example/limits#daily>)" in parts[-1]


@given(st.lists(st.sampled_from(
    ["@everyone", "@here", "<@1>", "<@!1>", "<@&2>", "<#3>", " ", "\n", "word", "(", "*"]
), min_size=1))  # fmt: skip
def test_a_mention_in_an_answer_comes_out_as_text(words: list[str]) -> None:
    answer = "Hi " + "".join(words)
    (part,) = render(a_response(answer, citations=()))
    assert LIVE.search(part) is None
    assert bare(part) == bare(answer)


def test_code_is_shown_as_it_stands() -> None:
    code = "```python\nif '@everyone' in text:\n    ping('<@123>')\n```"
    (part,) = render(a_response(f"Like this:\n{code}\nAnd `@here` too.", citations=()))
    assert code in part
    assert "`@here`" in part


def test_fences_that_discord_does_not_know_become_fences_that_it_knows() -> None:
    (part,) = render(a_response("~~~python\nx = 1\n~~~\nDone.", citations=()))
    assert part == "```python\nx = 1\n```\nDone."


def test_a_table_stands_in_a_block_where_its_columns_keep_their_places() -> None:
    table = "| a | b |\n|---|---|\n| 1 | 2 |"
    (part,) = render(a_response(f"See:\n\n{table}\n\nThat is all.", citations=()))
    assert part == f"See:\n\n```\n{table}\n```\n\nThat is all."


def test_many_footnotes_stand_last_in_order_and_none_is_cut() -> None:
    citations = tuple(
        a_citation(number, page_title=f"A page about the number {number} " * 8)
        for number in range(1, 41)
    )
    parts = render(a_response("Everything [1].", citations=citations))
    accepted(parts)
    lines = [line for part in parts for line in part.splitlines() if "](<https" in line]
    assert [int(line[1 : line.index("]")]) for line in lines] == list(range(1, 41))
    assert all(line.endswith("(<https://docs.example/limits#daily>)") for line in lines)


def test_a_footnote_without_an_address_names_title_section_and_file() -> None:
    source = Source(
        chunk_text="Ten a day.",
        similarity_score=0.9,
        rank=1,
        page_title="Limits",
        section="Daily",
        source_file="guide/limits.md",
        chunk_index=0,
    )
    response = a_response(citations=(a_citation(page_url=None),), sources=(source,))
    assert render(response)[-1].endswith("\n\n[1] Limits › Daily (guide/limits.md)")


@pytest.mark.parametrize(
    "title",
    ["a](https://evil.example) [b", "**bold** @everyone <@1>", "`code` \n # x", "http://x.example"],
)
def test_a_title_from_a_document_is_only_words(title: str) -> None:
    shown = escaped(title)
    assert "](" not in shown
    assert "\n" not in shown
    assert LIVE.search(shown) is None
    assert "://" not in shown
    assert not re.search(r"(?<!\\)[*`_~|#<>]", shown)


@given(st.text())
def test_any_title_keeps_its_link_whole(title: str) -> None:
    (part,) = render(a_response("Yes [1].", citations=(a_citation(page_title=title),)))
    line = part.splitlines()[-1]
    assert re.fullmatch(r"\[1\] \[[^\[\]\n]+\]\(<https://docs\.example/limits#daily>\)", line)


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://docs.example/a b", "https://docs.example/a%20b"),
        ("https://docs.example/a>b<c", "https://docs.example/a%3Eb%3Cc"),
        ("https://docs.example/a_(b)", "https://docs.example/a_%28b%29"),
        ("https://docs.example/%20", "https://docs.example/%20"),
        ("javascript:alert(1)", None),
        ("https://docs.example/" + "x" * 2_000, None),
        (None, None),
    ],
)
def test_an_address_cannot_break_out_of_its_link(url: str | None, target: str | None) -> None:
    assert link_target(url) == target


def test_low_confidence_is_said_before_the_answer() -> None:
    response = a_response(outcome=Outcome.LOW_CONFIDENCE, confidence_level=ConfidenceLevel.LOW)
    assert "only in part" in render(response)[0].splitlines()[0]


def test_suggestions_stand_below_a_refusal() -> None:
    response = a_response(
        "The documents do not cover this.",
        outcome=Outcome.NO_RESULTS,
        citations=(),
        suggestions=(
            Suggestion(page_title="Limits", section_heading="Daily", page_url="https://x.example/"),
            Suggestion(page_title="Billing", section_heading="Billing"),
        ),
    )
    assert render(response) == [
        "The documents do not cover this.\n\n**Maybe look here**\n"
        "- [Limits › Daily](<https://x.example/>)\n- Billing"
    ]


@given(st.integers(1, 12), st.booleans())
def test_buttons_stand_below_the_last_part_and_are_accepted(paragraphs: int, private: bool) -> None:
    answer = "\n\n".join(["word " * 100] * paragraphs)
    question = a_question(private=private, asker_id="9" * 20)
    payloads = DiscordRenderer(with_buttons=True).render(a_response(answer), question)
    *first, last = [json.loads(payload) for payload in payloads]
    assert all("components" not in part for part in first)
    check_message(last)
    assert len(last["components"][0]["components"]) == (3 if private else 4)


def test_the_same_answer_gives_the_same_parts() -> None:
    response = a_response(GuardedText("word " * 2_000))
    assert render(response) == render(response)


@given(st.text(min_size=1).filter(lambda text: bool(text.strip())) | ANSWERS)
def test_any_question_gives_a_title_that_a_thread_may_have(question: str) -> None:
    title = thread_title(question)
    check_thread({"name": title})
    assert units(title) <= 100
    assert "\n" not in title


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("How many a day?", "How many a day?"),
        ("Hi all. I use v2.1?x=1 and it fails. Why does it fail?\nThanks", "Why does it fail?"),
        ("```\nwhat? no\n```\nExplain this.", "Explain this."),
        ("为什么会失败？谢谢。", "为什么会失败？"),
        ("**Is it *really* so?**", "**Is it *really* so?**"),
    ],
)
def test_a_title_is_the_sentence_that_asks(question: str, title: str) -> None:
    assert thread_title(question) == title


@given(SHOWN, st.sampled_from(list(Rung)))
def test_every_rung_is_accepted_whole_and_in_order(answer: str, rung: Rung) -> None:
    answer = guarded(answer) or "…"
    renderer = DiscordRenderer(with_buttons=True, staffed={"1"})
    posts = [
        Post.read(payload)
        for payload in renderer.render(a_response(answer), a_question(), rung=rung)
    ]
    for post in posts:
        check_message(post.body(nonce="0" * 24, enforce_nonce=True, flags=4))
        assert len(post.content) <= 1_900
        assert rung is Rung.RICH or not post.components
    texts = [post.content + (post.file.text if post.file else "") for post in posts]
    assert holds_in_order("".join(bare(COUNT.sub("", text)) for text in texts), bare(answer))
    assert "docs.example/limits#daily" in texts[-1]


def test_rungs_get_plainer_and_the_last_one_is_a_file() -> None:
    renderer, response = DiscordRenderer(with_buttons=True), a_response("word " * 700)
    shown = {
        rung: [Post.read(each) for each in renderer.render(response, a_question(), rung=rung)]
        for rung in Rung
    }
    assert len(shown[Rung.RICH]) == 2
    assert all(len(post.content) <= 900 for post in shown[Rung.SPLIT])
    assert "](<" not in shown[Rung.PLAIN][-1].content
    assert "<https://docs.example/limits#daily>" in shown[Rung.PLAIN][-1].content
    (file,) = shown[Rung.FILE]
    assert file.file is not None
    assert file.file.name == "answer.md"
    assert len(file.content) < 100


def test_a_changed_source_is_said_first_and_offers_to_ask_again() -> None:
    response = a_response(source_changed=True)
    renderer = DiscordRenderer(with_buttons=True, staffed={"local"})
    (payload,) = renderer.render(response, a_question(), rung=Rung.RICH)
    post = Post.read(payload)
    assert "A source changed since this answer." in post.content.splitlines()[0]
    check_message(post.body())
    labels = [item["label"] for row in post.components for item in row["components"]]
    assert labels == [
        "Helpful", "Not helpful", "Show evidence", "Ask a person", "Ask again", "Delete"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "locale", "words"),
    [
        ("Wie viele sind es am Tag?", "en-US", "nur zum Teil"),
        ("ROS 2?", "de", "nur zum Teil"),
        ("How many are there in a day?", "de", "only in part"),
        ("ROS 2?", "ja", "only in part"),
    ],
)
def test_notes_are_in_the_language_of_the_question_or_of_the_place(
    text: str, locale: str, words: str
) -> None:
    low = a_response(outcome=Outcome.LOW_CONFIDENCE, confidence_level=ConfidenceLevel.LOW)
    payloads = DiscordRenderer().render(low, a_question(text, locale=locale))
    assert words in Post.read(payloads[0]).content
