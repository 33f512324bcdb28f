"""Quoted answers say how many sections they quote, and show in bold what answers."""

from __future__ import annotations

import pytest

from adapters.discord.answering.renderer import DiscordRenderer
from adapters.slack.answering.renderer import SlackRenderer
from rag_core.agent.answer import Mark, Outcome
from rag_core.desk.outgoing import Rung
from rag_core.reading.quotations import quoted_sections, with_bold_marks
from tests.builders import a_question
from tests.fakes.answers import a_citation, an_answer

ONE = "**Handbook › Limits** [1]\n> Files are small. Ten files a day. No more."
TWO = f"{ONE}\n\n**Handbook › Guests** [2]\n> 1. Open the page.\n> 2. Run `x`."
NEAREST = f"I found no clear answer. These sections come nearest:\n\n{TWO}"


@pytest.mark.parametrize(
    ("text", "sections"),
    [
        (ONE, 1),
        (TWO, 2),
        (NEAREST, 2),
        (f"{TWO}\n\nThe documents do not cover this part: “why”.", 2),
        ("Ten a day [1].", 0),
        ("As they say [1]:\n\n> Ten a day.", 0),
        (f"{ONE}\n\n> Another quotation.", 0),
        (f"# Limits\n\n{ONE}", 0),
    ],
)
def test_sections_that_are_quoted_are_counted(text: str, sections: int) -> None:
    assert quoted_sections(text) == sections


def bold(text: str, *quotes: str) -> str:
    marks = tuple(Mark(number=n, quote=quote) for n, quote in enumerate(quotes, start=1))
    notes = tuple(a_citation(n, quote="") for n, _ in enumerate(quotes, start=1))
    return with_bold_marks(an_answer(text, marks=marks, citations=notes))


def test_the_words_that_answer_are_bold_where_they_are_plain() -> None:
    assert "> Files are small. **Ten files a day.** No more." in bold(ONE, "Ten files\na day.")


@pytest.mark.parametrize(
    ("line", "quote"),
    [
        ("Run `basil` now. It starts.", "It starts."),
        ("It *never* starts. Ten a day.", "Ten a day."),
        ("- Ten a day.", "Ten a day."),
        ("Often a day.", "ten a day."),
        ("Ten a day.", ""),
        ("Ten a day.", "Fifty a day."),
    ],
)
def test_other_words_stay_as_they_are(line: str, quote: str) -> None:
    text = f"**Handbook** [1]\n> {line}"
    assert bold(text, quote) == text


def test_each_section_has_its_own_words() -> None:
    text = "**A** [1]\n> Ten a day. Free.\n\n**B** [2]\n> Ten a day. Paid."
    assert bold(text, "Free.", "Ten a day.") == (
        "**A** [1]\n> Ten a day. **Free.**\n\n**B** [2]\n> **Ten a day.** Paid."
    )


def test_an_answer_of_a_model_keeps_its_words() -> None:
    assert bold("Ten a day [1].", "Ten a day") == "Ten a day [1]."


@pytest.mark.parametrize("rung", [Rung.RICH, Rung.PLAIN, Rung.FILE])
@pytest.mark.parametrize("renderer", [SlackRenderer(), DiscordRenderer()])
def test_chats_say_from_how_many_sections_they_quote(
    renderer: SlackRenderer | DiscordRenderer, rung: Rung
) -> None:
    notes = (a_citation(1), a_citation(2))
    sure = an_answer(TWO, citations=notes)
    assert "Quoted from 2 sections" in "".join(renderer.render(sure, a_question(), rung=rung))
    unsure = an_answer(NEAREST, citations=notes, outcome=Outcome.LOW_CONFIDENCE)
    said = "".join(renderer.render(unsure, a_question(), rung=rung))
    assert "Quoted from" not in said
    assert "only in part" not in said
    assert "no clear answer" in said
