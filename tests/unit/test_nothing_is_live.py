"""Whatever a text holds, no client shows it as a link, a mention or a ping, but for the footnotes.

What a client makes live is judged by models of the clients (`tests/clients`) that know nothing of
how we write."""

from __future__ import annotations

import html
import json
import os
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from markdown_it import MarkdownIt

from adapters.discord.acting import lists
from adapters.discord.acting.asking import TOKEN
from adapters.discord.acting.evidence import evidence as discord_evidence
from adapters.discord.acting.lookup import listed
from adapters.discord.answering.links import place_line, place_link
from adapters.discord.answering.markdown import to_discord_markdown
from adapters.discord.answering.renderer import DiscordRenderer
from adapters.discord.hearing.files import UNREAD
from adapters.discord.wording import escaped as escaped_for_discord
from adapters.discord.wording import link_target
from adapters.slack.acting import commands, house_keeping
from adapters.slack.acting.evidence import evidence as slack_evidence
from adapters.slack.acting.sharing import head_message
from adapters.slack.answering.markdown import escaped as escaped_for_slack
from adapters.slack.answering.markdown import link, plain_link
from adapters.slack.answering.renderer import SlackRenderer
from adapters.slack.answering.writer import message_of, shown_part
from adapters.steward import Finding, GapLine
from adapters.web.pages.markdown import parsed, rendered
from rag_core.agent.answer import AgentResponse, Outcome, Suggestion
from rag_core.agent.checks.guard import guarded
from rag_core.agent.checks.partial import PartialText
from rag_core.books.book import Book
from rag_core.desk.outgoing import Rung
from rag_core.text.visible import visible
from tests.builders import a_citation, a_question, a_response, a_result
from tests.clients import discord_client, slack_client
from tests.mutants import EVIL, mutants

FULL = os.environ.get("FOOTNOTE_TESTS") == "full"
ANSWERS = 50_000 if FULL else 1_200
LABELS = 5_000 if FULL else 250
GROWING = 2_000 if FULL else 60
SEED = 24
PLACE = a_citation().page_url or ""
BOOK = "https://docs.example/near"
READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
SHOWN_RUNGS = (Rung.RICH, Rung.SPLIT, Rung.PLAIN)


def shown_on_discord(response: AgentResponse, **question: Any) -> Iterator[str]:
    asked = a_question(**question)
    payloads = [DiscordRenderer().render(response, asked, rung=rung) for rung in SHOWN_RUNGS]
    yield from {json.loads(each)["content"]: None for rung in payloads for each in rung}


def shown_on_slack(response: AgentResponse, **question: Any) -> Iterator[Mapping[str, Any]]:
    for rung in SHOWN_RUNGS:
        for payload in SlackRenderer().render(response, a_question(**question), rung=rung):
            yield json.loads(payload)


def answers(count: int) -> Iterator[tuple[str, AgentResponse]]:
    for text in mutants(SEED, count):
        yield text, a_response(guarded(text) or "…")


def test_discord_makes_nothing_of_an_answer_live() -> None:
    faults = [
        (text, live, part)
        for text, response in answers(ANSWERS)
        for part in shown_on_discord(response)
        if (live := discord_client.live_in(part, [PLACE]))
    ]
    assert not faults, f"{len(faults)} of {ANSWERS}: {faults[0]}"


def test_slack_makes_nothing_of_an_answer_live() -> None:
    faults = [
        (text, live, message)
        for text, response in answers(ANSWERS)
        for message in shown_on_slack(response)
        if (live := slack_client.live_in(message, [PLACE]))
    ]
    assert not faults, f"{len(faults)} of {ANSWERS}: {faults[0]}"


def test_the_page_and_any_reader_of_markdown_make_nothing_of_an_answer_live() -> None:
    for text, response in answers(ANSWERS):
        for page in (READER.render(response.answer), rendered(parsed(response.answer))):
            assert not any(tag in page for tag in ("<a ", "<img", "<script", "<iframe", "<!--")), (
                text
            )


def test_nothing_of_a_growing_answer_is_live() -> None:
    chance = random.Random(SEED)
    for text in mutants(SEED + 1, GROWING):
        partial, shown = PartialText(ranks=frozenset({1, 2})), ""
        place = 0
        while place < len(text):
            size = chance.randint(1, 12)
            partial.add(text[place : place + size])
            delta, restart = partial.take()
            shown = delta if restart else shown + delta
            place += size
            assert "<a " not in READER.render(shown), (text, shown)
            assert not discord_client.live_in(to_discord_markdown(shown)), (text, shown)
            assert not slack_client.live_in(message_of(shown_part(shown))), (text, shown)


def test_parts_of_a_long_answer_are_harmless_each_by_itself() -> None:
    code = f"curl {EVIL} # @everyone <@1> <!channel> evil.com\n"
    for long in (
        f"```sh\n{code * 300}```",
        "".join(f"- item\n\n  ```\n  {code}  ```\n" for _ in range(100)),
        f"`{code.strip() * 300}`",
        f"````\n```\n{code * 300}```\n````",
        "> ```\n" + f"> {code}" * 300 + "> ```",
    ):
        response = a_response(guarded(long))
        parts = list(shown_on_discord(response))
        assert len(parts) > 3
        assert not [live for part in parts if (live := discord_client.live_in(part, [PLACE]))]
        messages = list(shown_on_slack(response))
        assert not [live for each in messages if (live := slack_client.live_in(each, [PLACE]))]


def labelled_answer(text: str) -> AgentResponse:
    """An answer whose places bear this text in every label."""
    near = Suggestion(page_title=text, section_heading=text, page_url=BOOK)
    nowhere = Suggestion(page_title=text, section_heading="")
    citation = a_citation(page_title=text, section_heading=text, quote=text)
    unlinked = a_citation(2, page_title=text, section_heading="", quote=text, page_url=None)
    return a_response(
        outcome=Outcome.COMPLETED,
        query=text,
        citations=(citation, unlinked),
        suggestions=(near, nowhere),
    )


def discord_words(text: str) -> Iterator[str]:
    """Everything on Discord that shows a stranger's words beside an answer."""
    response = labelled_answer(text)
    asked = {"text": visible(text).strip()[:900] or "why?", "address": {TOKEN: "secret"}}
    yield from shown_on_discord(response, **asked)
    yield from discord_evidence(response)
    yield listed([a_result(text, page_title=text, section_heading=text, page_url=BOOK)])
    yield lists.books([a_book(text)])
    yield lists.gaps([GapLine(example=text, count=2, nearest=response.suggestions[0])])
    yield lists.findings([Finding(name=text, in_place=False, detail=text, advice=text)])
    yield f"Resolved by {escaped_for_discord(text)}."


def slack_words(text: str) -> Iterator[Mapping[str, Any]]:
    response = labelled_answer(text)
    yield from shown_on_slack(response)
    yield {"blocks": slack_evidence(response)}
    yield head_message(text)
    lines = [
        house_keeping.book_line(a_book(text)),
        house_keeping.gap_line(GapLine(example=text, count=2, nearest=response.suggestions[0])),
        house_keeping.finding_line(Finding(name=text, in_place=False, detail=text, advice=text)),
        escaped_for_slack(text),
    ]
    for line in lines:
        yield {"text": line}
    yield commands.listed([a_result(text, page_title=text, page_url=BOOK)])


def a_book(title: str) -> Book:
    return Book(book_id="course", title=title, files=1)


def test_discord_makes_nothing_of_titles_quotes_and_questions_live() -> None:
    for text in mutants(SEED + 2, LABELS):
        for shown in discord_words(text):
            assert not discord_client.live_in(shown, [PLACE, BOOK]), (text, shown)


def test_slack_makes_nothing_of_titles_quotes_and_questions_live() -> None:
    for text in mutants(SEED + 3, LABELS):
        for message in slack_words(text):
            assert not slack_client.live_in(message, [PLACE, BOOK]), (text, message)


def test_an_address_of_the_evidence_stays_within_its_link() -> None:
    for text in mutants(SEED + 4, LABELS):
        url = f"https://docs.example/{text}"
        target = link_target(url) or ""
        assert not re.search(r"[\s<>()\[\]`]", target)
        shown = place_link("Limits", "Daily", url) + "\n" + place_line("Limits", "Daily", url)
        assert not discord_client.live_in(shown, [target]), text
        for line in (link("Limits", url), plain_link("Limits", url)):
            inside = re.findall(r"<([^<>|]*)", line)
            assert all(each.startswith("https://docs.example/") for each in inside), (text, line)
            allowed = [html.unescape(each) for each in inside]
            assert not slack_client.live_in({"text": line}, allowed), (text, line)


def test_a_long_question_and_many_notes_leave_room_for_the_answer() -> None:
    asked = replace(
        a_question("*_" * 450, address={TOKEN: "secret", UNREAD: "1"}), original_length=4_500
    )
    response = a_response(outcome=Outcome.LOW_CONFIDENCE, source_changed=True)
    for rung in SHOWN_RUNGS:
        posts = [json.loads(each) for each in DiscordRenderer().render(response, asked, rung=rung)]
        assert all(len(post["content"]) <= 1_900 for post in posts)
        assert "Ten a day" in posts[-1]["content"]


@pytest.mark.parametrize(
    "text",
    [
        f"\\{EVIL}", "https://[@host/", f"````\n```\n{EVIL}\n```\n````", "</ban:1>", "<t:1:R>",
        f"[docs](<{EVIL}>)", f"<{EVIL}>", "\\<@1>", "**`x ** <@1>`", "<:a:1>", "<id:guide>",
        f"```\n```\na\n```\n{EVIL}\n```", f"> ```\n> a\n\n{EVIL}\n```", "@everyone",
        f"- ```\n  a\n\n  {EVIL}\n  ```", f"1. x\n```\na\n\n{EVIL}\n```", "<ann@evil.com>",
    ],
)  # fmt: skip
def test_the_model_of_discord_knows_what_it_makes_live(text: str) -> None:
    assert discord_client.live_in(text)


@pytest.mark.parametrize(
    "text",
    [
        f"`{EVIL}`", f"```\n{EVIL}\n```", "`<@1>` and `@everyone`", "a ** b", "ann@evil.com",
        f"**see `{EVIL}`**", "> `<@1>`", "- a\n- `<#2>`", "[1] and [2]", "a < b > c",
    ],
)  # fmt: skip
def test_the_model_of_discord_knows_code_and_words(text: str) -> None:
    assert not discord_client.live_in(text)


@pytest.mark.parametrize(
    "text",
    [
        f"\\{EVIL}", "evil.com", "ann@evil.com", f"[x]({EVIL})", "&lt;https://evil.example&gt;",
        "<!channel>", "`<!channel>`", "<@U1>", f"<{EVIL}|x>", "@channel", f"````\n```\n{EVIL}\n```",
        "mailto:ann@evil.com", f"``a` {EVIL} `b``",
    ],
)  # fmt: skip
def test_the_model_of_slack_knows_what_it_makes_live(text: str) -> None:
    assert slack_client.live_in({"text": text})
    assert slack_client.live_in({"blocks": [{"type": "markdown", "text": text}]})


@pytest.mark.parametrize(
    "text", ["`evil.com`", f"```\n{EVIL}\n```", "a. b", "e.g. 3.1", "[1] &amp;"]
)
def test_the_model_of_slack_knows_code_and_words(text: str) -> None:
    assert not slack_client.live_in({"text": text})
    assert not slack_client.live_in({"blocks": [{"type": "markdown", "text": text}]})
