"""Every answer becomes messages that Slack takes, and nothing in them notifies anybody."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adapters.chat_writing import ZERO_WIDTH_SPACE
from adapters.slack.answering.markdown import link, to_slack_markdown
from adapters.slack.answering.renderer import MARKDOWN_LIMIT, SlackRenderer
from adapters.slack.phrases import ENGLISH
from rag_core.agent.answer import AgentResponse, Outcome, Suggestion
from rag_core.agent.checks.guard import guarded
from rag_core.conversation.key import ConversationKey, Platform, TenantId
from rag_core.conversation.question import Question
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.outgoing import Rung
from tests.fakes.answers import a_citation, a_refusal, an_answer
from tests.peers.slack_rules import Refused, check_message, pings_in, texts_of, unescaped

BROKEN = ZERO_WIDTH_SPACE.join("```")
LOST_CELLS = ("0 0 0 0 0 0 0000|000\n-----|\n00000000 " * 400).strip()
"""Cut as text, its later parts are read as tables whose rows have more cells than their head."""
KEY = ConversationKey(
    platform=Platform.SLACK, tenant=TenantId("T1"), channel_id="C1", thread_id="1.1"
)
PIECES = st.one_of(
    st.text(max_size=60),
    st.text(alphabet="`~<>&|*_[]()!@#\n ", max_size=30),
    st.sampled_from(
        [
            "<!channel> ",
            "<@U0ANN> ",
            "<#C0GENERAL|general> ",
            "<!subteam^S123|@ops> ",
            "`<!here>` ",
            "```html\n<!everyone>\n<p>a &amp; b</p>\n```\n",
            "&lt;!channel&gt; ",
            "```\n",
            "| a | b |\n|---|---|\n" + "| one | two |\n" * 20,
            "日本語の文章です。",
            "👩‍👩‍👧",
            "a paragraph with some words in it. ",
            "\n\n",
            "> quoted <b>\n",
            "[label](https://docs.example/a?b=1&c=2) ",
            "<https://docs.example/a?b=1&c=2> ",
            "x" * 900,
            "& " * 300,
            "<" * 300,
        ]
    ),
)
ANSWERS = st.lists(st.tuples(PIECES, st.integers(1, 60)), max_size=30).map(
    lambda pieces: "".join(text * times for text, times in pieces)[:100_000]
)
TITLES = st.one_of(st.text(max_size=400), st.sampled_from(["<!channel>", "a|b>c", "*x* <@U0ANN>"]))
ADDRESSES = st.one_of(
    st.none(),
    st.text(max_size=50),
    st.text(max_size=2_000).map(lambda rest: f"https://docs.example/{rest}"),
)


def question(**changes: Any) -> IncomingQuestion:
    fields: dict[str, Any] = {
        "key": KEY,
        "message_id": "1.1",
        "asker_id": "U1",
        "question": Question(message="why?"),
        "heard_at": datetime(2026, 1, 1, tzinfo=UTC),
        "position": "1.1",
    }
    return IncomingQuestion(**fields | changes)


def rendered(response: AgentResponse, **changes: Any) -> list[dict[str, Any]]:
    payloads = SlackRenderer().render(response, question(**changes))
    assert payloads == SlackRenderer().render(response, question(**changes))
    return [json.loads(payload) for payload in payloads]


def shown(messages: list[dict[str, Any]]) -> str:
    return unescaped(
        "\n".join(text for message in messages for text in texts_of(message["blocks"]))
    )


def kinds(message: dict[str, Any]) -> list[str]:
    return [block["type"] for block in message["blocks"]]


def bare(text: str) -> str:
    """The characters that show, as Slack shows them."""
    return "".join(unescaped(text).replace(ZERO_WIDTH_SPACE, "").split())


@given(answer=ANSWERS.filter(str.strip), titles=st.lists(st.tuples(TITLES, ADDRESSES), max_size=12))
@example(answer="<" * 100_000, titles=[])
@example(answer="&" * 100_000, titles=[("t", "https://x.example/" + "a" * 1_400)] * 12)
@example(answer="```\n" + "<&>" * 33_000, titles=[])
@example(answer="`" + "<!channel>" * 3_000 + "`", titles=[("<!channel>", None)])
@example(answer="語" * 100_000, titles=[])
@example(answer=LOST_CELLS, titles=[])
def test_slack_takes_any_answer_whole_in_order_and_nobody_is_notified(
    answer: str, titles: list[tuple[str, str | None]]
) -> None:
    citations = tuple(
        a_citation(number, page_title=title, page_url=url)
        for number, (title, url) in enumerate(titles, start=1)
    )
    answer = guarded(answer)
    messages = rendered(an_answer(answer or "…", citations=citations))
    for message in messages:
        check_message(message)
        assert pings_in(message) == []
    characters = iter(words_of(shown(messages)))
    assert all(character in characters for character in words_of(answer))
    assert all(f"[{citation.number}] " in shown(messages) for citation in citations)


@given(
    answer=ANSWERS.filter(str.strip),
    titles=st.lists(st.tuples(TITLES, ADDRESSES), max_size=12),
    rung=st.sampled_from([Rung.SPLIT, Rung.PLAIN]),
    private=st.booleans(),
)
@example(answer="<" * 100_000, titles=[], rung=Rung.SPLIT, private=False)
@example(answer="```\n" + "<&>" * 33_000, titles=[], rung=Rung.SPLIT, private=False)
@example(answer="`" + "<!channel>" * 3_000 + "`", titles=[("*x*", None)], rung=Rung.PLAIN,
         private=True)  # fmt: skip
@example(answer=LOST_CELLS, titles=[], rung=Rung.SPLIT, private=False)
@example(answer=LOST_CELLS, titles=[], rung=Rung.PLAIN, private=False)
def test_slack_takes_every_answer_on_every_rung(
    answer: str, titles: list[tuple[str, str | None]], rung: Rung, private: bool
) -> None:
    citations = tuple(
        a_citation(number, page_title=title, page_url=url)
        for number, (title, url) in enumerate(titles, start=1)
    )
    answer = guarded(answer)
    response = an_answer(answer or "…", citations=citations, source_changed=True)
    asked = question(private=private)
    renderer = SlackRenderer(has_staff=True)
    messages = [json.loads(payload) for payload in renderer.render(response, asked, rung=rung)]
    for message in messages:
        check_message(message)
        assert pings_in(message) == []
    seen = "".join(shown(messages) if rung is Rung.SPLIT else unescaped(m["text"])
                   for m in (messages if rung is Rung.PLAIN else [{}]))  # fmt: skip
    characters = iter(words_of(seen))
    assert all(character in characters for character in words_of(answer))


def words_of(text: str) -> str:
    """What shows, but for the marks of Markdown, which Slack has others for."""
    return "".join(c for c in bare(text) if c not in "*#-+•~`_\\'.)=:|>")


def test_the_last_rung_is_one_file_with_the_whole_answer() -> None:
    [payload] = SlackRenderer().render(an_answer("Ten a day [1]."), question(), rung=Rung.FILE)
    message = json.loads(payload)
    assert message["file"]["content"] == (
        "Ten a day [1].\n\n[1] Limits › Daily — https://docs.example/limits#daily"
    )
    check_message({"text": message["text"]})


def test_tables_headings_and_lists_have_marks_of_their_own_without_markdown() -> None:
    text = "# Limits\n\n- **ten** a day\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    [first, *_] = SlackRenderer().render(an_answer(text), question(), rung=Rung.SPLIT)
    assert json.loads(first)["blocks"][0]["text"]["text"] == (
        "*Limits*\n\n• *ten* a day\n\n```\n| a | b |\n|---|---|\n| 1 | 2 |\n```"
    )


@pytest.mark.parametrize("text", ["Ten a day. ", "x < 1 & y. ", "`a<b>` and `c&d`. "])
def test_without_markdown_there_are_as_few_messages_as_will_do(text: str) -> None:
    long = text * (9_000 // len(text))
    messages = SlackRenderer().render(an_answer(long), question(), rung=Rung.SPLIT)
    assert len(messages) <= 3


def test_the_judge_of_these_tests_sees_what_slack_refuses() -> None:
    block = {"type": "markdown", "text": "x" * 12_001}
    with pytest.raises(Refused, match="invalid_blocks"):
        check_message({"text": "x", "blocks": [block]})
    section = {"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3_000}}
    with pytest.raises(Refused, match="msg_blocks_too_long"):
        check_message({"text": "x", "blocks": [section] * 5})
    assert pings_in({"text": "a <!here|here> b", "blocks": []}) == ["<!here|here>"]


def test_footnotes_stand_on_the_last_part_linked_to_their_place() -> None:
    long = "A sentence of an answer [1]. " * 900
    messages = rendered(an_answer(long, citations=(a_citation(), a_citation(2, page_url=None))))
    assert len(messages) > 2
    assert [kinds(message) for message in messages] == [
        *[["markdown"]] * (len(messages) - 1),
        ["markdown", "section", "context_actions", "actions"],
    ]
    assert messages[-1]["blocks"][1]["text"]["text"] == (
        "[1] <https://docs.example/limits#daily|Limits › Daily>\n[2] Limits › Daily"
    )
    assert all(len(message["blocks"][0]["text"]) <= MARKDOWN_LIMIT for message in messages)


def test_more_footnotes_than_a_message_holds_go_on_in_the_next() -> None:
    url = "https://docs.example/" + "a" * 1_400
    citations = tuple(a_citation(number, page_url=url) for number in range(1, 30))
    messages = rendered(an_answer("Yes [1].", citations=citations))
    assert len(messages) > 1
    for message in messages:
        check_message(message)
    assert [f"[{n}] " in shown(messages) for n in range(1, 30)] == [True] * 29


def test_a_low_confidence_is_said_first() -> None:
    messages = rendered(an_answer(outcome=Outcome.LOW_CONFIDENCE))
    assert messages[0]["blocks"][0]["text"].startswith(ENGLISH.caution)


def test_a_refusal_shows_where_to_look() -> None:
    near = Suggestion(
        page_title="Limits", section_heading="Weekly", page_url="https://docs.example/w"
    )
    [message] = rendered(a_refusal(suggestions=(near,)))
    assert message["blocks"][1]["text"]["text"] == (
        "*Maybe look here*\n• <https://docs.example/w|Limits › Weekly>"
    )


@pytest.mark.parametrize(
    ("markdown", "slack"),
    [
        ("a < b && c > d", "a &lt; b &amp;&amp; c &gt; d"),
        ("`a < b` and `x`", "`a < b` and `x`"),
        ("```c\nif (a < b && c) {}\n```", "```c\nif (a < b && c) {}\n```"),
        ("> quoted > twice", "> quoted &gt; twice"),
        ("hello <!channel>", "hello &lt; !channel&gt;"),
        ("`<!channel>`", f"`<{ZERO_WIDTH_SPACE}!channel>`"),
        ("`<!DOCTYPE html>`", "`<!DOCTYPE html>`"),
        ("see <https://x.example/?a=1&b=2>", "see `https://x.example/?a=1&b=2`"),
        ("see <https://x.example|elsewhere>", "see elsewhere (`https://x.example`)"),
        ("open main.rs, or ask ann@x.example", "open `main.rs`, or ask `ann@x.example`"),
        ("- a\n\n  ```\n  b\n  ```\n- c", "- a\n\n```\nb\n```\n- c"),
        ("````\n```\na\n```\n````", f"```\n{BROKEN}\na\n{BROKEN}\n```"),
        ("already &lt;escaped&gt;", "already &lt;escaped&gt;"),
    ],
)
def test_markdown_is_made_safe_for_slack(markdown: str, slack: str) -> None:
    assert to_slack_markdown(markdown) == slack


@pytest.mark.parametrize(
    ("title", "url", "shown_as"),
    [
        ("Limits", "https://x.example/#a", "<https://x.example/#a|Limits>"),
        ("<!channel>", "https://x.example/", "<https://x.example/|&lt;!channel&gt;>"),
        ("a > b", "https://x.example/a|b>c d", "<https://x.example/a%7Cb%3Ec%20d|a &gt; b>"),
        ("two\nlines", "https://x.example/?a=1&b=2", "<https://x.example/?a=1&amp;b=2|two lines>"),
        ("Limits", "javascript:alert(1)", "Limits"),
        ("Limits", "/read/1", "Limits"),
        ("Limits", None, "Limits"),
    ],
)
def test_a_title_cannot_break_out_of_its_link(title: str, url: str | None, shown_as: str) -> None:
    assert link(title, url) == shown_as
