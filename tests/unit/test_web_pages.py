"""The pages: what documents and askers wrote is shown, and can do nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.web import app as web_app
from adapters.web.pages.markdown import parsed, rendered
from adapters.web.pages.marking import marked
from rag_core.agent.answer import AgentResponse, Mark, Outcome, RemovedClaim, Suggestion
from rag_core.agent.checks.guard import GuardedText
from rag_core.agent.confidence.level import ConfidenceLevel
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.progress import Progress
from tests.fakes.web_house import FixedStarters, House, MemoryBooks, MemoryIndex, OneDefault
from tests.fakes.web_values import a_citation, a_refusal, a_response, a_result, an_error
from tests.fakes.web_visit import a_config, visiting, with_keys

ASK = {"message": "How often may a key ask?"}
SAFE_TAGS = {
    "p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "a", "code", "pre", "em", "strong",
    "s", "blockquote", "table", "thead", "tbody", "tr", "th", "td", "hr", "br", "mark",
}  # fmt: skip
SAFE_ATTRIBUTES = {"href", "class", "start", "target", "rel"}


class Tags(HTMLParser):
    """Every tag of a piece of HTML, with its attributes; and its words."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words += data


def assert_harmless(html: str) -> None:
    for tag, attributes in Tags(html).found:
        assert tag in SAFE_TAGS, tag
        assert attributes.keys() <= SAFE_ATTRIBUTES, attributes
        if "href" in attributes:
            assert re.match(r"(https?|mailto):", str(attributes["href"]))


HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[click](javascript:alert(1))",
    "[click](JaVaScRiPt:alert(1))",
    "[click](data:text/html;base64,PHNjcmlwdD4=)",
    "[click](vbscript:x)",
    "[click](//evil.example/x)",
    "[click](/threads)",
    "![picture](https://evil.example/pixel.png)",
    '<https://ok.example/"onmouseover=alert(1)>',
    "<svg><script>alert(1)</script></svg>",
    "```\n</code></pre><script>alert(1)</script>\n```",
    "`<b>`",
    "| a | b |\n|:--|--:|\n| <i>x</i> | [y](javascript:1) |",
    '# <h1>\n## [x](http://a.example "title")',
    "&lt;script&gt; &amp;#60;script>",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_markdown_becomes_more_than_words(text: str) -> None:
    assert_harmless(rendered(parsed(text)))
    assert_harmless(marked(text, text))
    assert_harmless(marked(text, "script alert 1"))


@given(
    st.lists(
        st.sampled_from(
            [*HOSTILE, "\n", "\n\n", " ", "*", "_", "`", "[", "](", ")", "<", ">", "1. "]
        )
        | st.text(max_size=8)
    ).map("".join),
    st.text(max_size=20),
)
def test_whatever_is_written_the_page_stays_harmless(text: str, quote: str) -> None:
    assert_harmless(rendered(parsed(text)))
    assert_harmless(marked(text, quote))
    assert Tags(marked(text, text[:40])).words == Tags(rendered(parsed(text))).words


@pytest.mark.parametrize(
    ("text", "quote", "shown"),
    [
        ("Ten a day.", "Ten a day", ["Ten a day"]),
        ("Up to **ten** a day, no more.", "ten a day", ["ten", " a day"]),
        ("Up to ten a day.", "**ten** a day", ["ten a day"]),
        ("Set `LIMIT=10` first.", "Set `LIMIT=10` first", ["Set ", "LIMIT=10", " first"]),
        ("See [the limits](https://a.example) now.", "See [the limits](https://a.example) now",
         ["See ", "the limits", " now"]),
        ("One.\n\nTwo words.", "One. Two", ["One.", "Two"]),
        ("Line one\nline two.", "one line two", ["one", "line two"]),
        ("```\nx = 1\ny = 2\n```", "y = 2", ["y = 2"]),
        ("Straße im Ort", "STRASSE IM", ["Straße im"]),
        ("Ten a day.", "something else", []),
        ("Ten a day.", "", []),
        ("", "Ten", []),
    ],
)  # fmt: skip
def test_quoted_words_are_marked_where_they_stand(text: str, quote: str, shown: list[str]) -> None:
    marks = re.findall(r"<mark>(.*?)</mark>", marked(text, quote), re.DOTALL)
    assert marks == shown


async def page_of(response: AgentResponse | None = None, house: House | None = None) -> str:
    """The chat page after one question that got this answer."""
    house = house or House()

    async def answer(question: IncomingQuestion, progress: Progress) -> AgentResponse:
        return (
            replace(response, query=question.question.message) if response else a_response(question)
        )

    house.answerer = answer
    async with visiting(house) as client:
        session = (await client.post("/chat/run", json=ASK)).json()["session_id"]
        return (await client.get("/", params={"thread": session})).text


def an_answer(text: str = "Ten a day [1].", **more: Any) -> AgentResponse:
    from tests.builders import a_response as built

    return built(text, **({"citations": (a_citation(),), "retrieval_count": 1} | more))


async def test_the_first_visit_offers_questions_and_loads_nothing_from_elsewhere() -> None:
    house = House(starters=FixedStarters("What is <b>new</b>?"))
    async with visiting(house) as client:
        page = (await client.get("/")).text
        assert "What is &lt;b&gt;new&lt;/b&gt;?" in page
        assert "Your threads will stand here" in page
        loaded = re.findall(r'(?:src|href)="([^"#]*)"', page)
        for address in loaded:
            assert address.startswith("/"), address
            assert (await client.get(address)).status_code == 200
    assert "<style" not in page
    assert "style=" not in page
    assert not re.findall(r"<script(?![^>]* src=)", page)
    assert not re.findall(r"\son[a-z]+=", page)


async def test_a_thread_with_questions_shows_no_welcome() -> None:
    assert 'id="welcome"' not in (await page_of(an_answer())).split("<template")[0]


async def test_without_a_book_the_page_says_what_to_do_instead_of_what_to_ask() -> None:
    house = House(library=OneDefault(None), books=MemoryBooks())
    house.starters = FixedStarters("What is new?")
    async with visiting(house) as client:
        page = (await client.get("/")).text
    assert "footnote ingest path/to/documents --book" in page
    assert "What is new?" not in page
    assert "starters" not in page


async def test_where_no_book_is_chosen_the_page_names_the_setting_and_only_ones_own_books() -> None:
    house = House(library=OneDefault(None))
    async with visiting(house) as client:
        operator = (await client.get("/")).text
    async with visiting(house, with_keys(), key="ask-key-1") as client:
        stranger = (await client.get("/")).text
    assert "FOOTNOTE_DEFAULT_BOOK" in operator
    assert "(course, staff)" in operator
    assert "FOOTNOTE_DEFAULT_BOOK" in stranger
    assert "staff" not in stranger


async def test_a_key_holder_is_offered_questions_of_the_books_that_the_key_opens() -> None:
    house = House(starters=FixedStarters("What is new?"))
    async with visiting(house, with_keys(), key="staff-key-1") as client:
        staff = (await client.get("/")).text
    async with visiting(house, with_keys(), key="admin-key-1") as client:
        admin = (await client.get("/")).text
    assert "What is new?" not in staff
    assert "What is new?" in admin


def test_static_files_name_no_other_host_and_stay_light() -> None:
    files = [path for path in Path(web_app.STATIC).rglob("*") if path.is_file()]
    for path in files:
        text = path.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
        text = text.replace("/*! https://github.com/leeoniya/uPlot", "")  # whose it is
        assert not re.findall(r"https?://|url\(|@import", text), path
    assert sum(path.stat().st_size for path in files) < 300_000


async def test_an_answer_shows_its_footnotes_with_the_quoted_words_marked() -> None:
    page = await page_of(an_answer("Ten **a day** [1], not [2] nor `[1]`."))
    assert re.search(
        r'<sup class="marker"><a href="#note-[-0-9a-f]+-1" data-words="0"'
        r' aria-label="Footnote 1">',
        page,
    )
    assert "[2]" in page
    assert "<code>[1]</code>" in page
    assert "<mark>at most 100 requests</mark>" in page
    assert "Well supported by the documents" in page
    target = re.search(r'href="#(note-[-0-9a-f]+-1)"', page)
    assert target is not None
    assert f'id="{target[1]}"' in page


async def test_a_footnote_leads_to_the_page_or_to_the_reading_page() -> None:
    here = await page_of(an_answer())
    assert 'href="/read/lesson-1?passage=lesson-1-0&amp;quote=at+most' in here
    outside = a_citation(page_url="https://docs.example.com/limits#requests")
    there = await page_of(an_answer(citations=(outside,)))
    assert 'href="https://docs.example.com/limits#requests" target="_blank"' in there
    hostile = await page_of(an_answer(citations=(a_citation(page_url="javascript:alert(1)"),)))
    assert "javascript:" not in hostile


async def test_a_footnote_whose_passage_is_gone_still_shows_its_quote() -> None:
    page = await page_of(an_answer(), House(index=MemoryIndex()))
    assert "<mark>at most 100 requests in any 60 seconds</mark>" in page
    assert "/read/" not in page


async def test_every_marker_opens_the_words_that_back_its_own_sentence() -> None:
    first, second = "at most 100 requests", "any 60 seconds"
    url = "https://docs.example.com/limits#:~:text=at%20most%20100%20requests"
    answer = an_answer(
        "At most 100 [1]. A minute counts [1].",
        citations=(a_citation(quote=first, page_url=url),),
        marks=(Mark(number=1, quote=first), Mark(number=1, quote=second)),
    )
    page = await page_of(answer)
    assert re.findall(r'data-words="(\d)" aria-label="Footnote 1"', page) == ["0", "1"]
    shown, folded = page.split('<div class="passage" data-words="1" hidden>')
    assert f"<mark>{first}</mark>" in shown
    assert f"<mark>{second}</mark>" in folded
    assert 'href="https://docs.example.com/limits#:~:text=any%2060%20seconds"' in folded


async def test_what_was_left_out_can_be_unfolded() -> None:
    removed = RemovedClaim(text="At most <b>900</b>.", reason="900 is not in passage 1.")
    page = await page_of(an_answer(removed=(removed,)))
    assert "What I left out" in page
    assert "At most &lt;b&gt;900&lt;/b&gt;." in page
    assert "900 is not in passage 1." in page
    assert "What I left out" not in await page_of(an_answer())


async def test_a_caution_is_said_in_words() -> None:
    cautious = an_answer(outcome=Outcome.LOW_CONFIDENCE, confidence_level=ConfidenceLevel.LOW)
    assert "With caution." in await page_of(cautious)
    assert "With caution." not in await page_of(an_answer())


QUOTED = (
    "**Limits › Daily** [1]\n> Ten a day. Free for all.\n\n"
    "**Limits › Teams** [2]\n> Ten a day.\n>\n> 1. Open `x`.\n> 2. Go."
)


async def test_quoted_sections_show_the_words_that_answer_each_in_its_own_quotation() -> None:
    notes = (a_citation(1, quote="Free for all."), a_citation(2, quote="Open `x`."))
    page = await page_of(an_answer(QUOTED, citations=notes))
    first, second = page.split("<blockquote>")[1:3]
    assert "Ten a day. <mark>Free for all</mark>." in first
    assert "Ten a day." in second
    assert "<mark>Open </mark><code><mark>x</mark></code>" in second
    assert page.count('class="marker"') == 2
    assert "Quoted from 2 sections" in page
    assert "supported by the documents" not in page


async def test_where_only_the_nearest_sections_are_shown_the_answer_says_so_itself() -> None:
    notes = (a_citation(1, quote=""), a_citation(2, quote=""))
    text = f"I found no clear answer. These sections come nearest:\n\n{QUOTED}"
    low = {"outcome": Outcome.LOW_CONFIDENCE, "confidence_level": ConfidenceLevel.LOW}
    page = await page_of(an_answer(text, citations=notes, **low))
    assert 'class="answer low_confidence quoted"' in page
    assert "With caution." not in page
    assert "Quoted from" not in page


async def test_a_refusal_says_where_to_look() -> None:
    house = House()
    near = Suggestion(
        page_title="Limits", section_heading="Files", page_url="https://docs.example.com/files"
    )
    bare = Suggestion(page_title="Limits", section_heading="Daily", chunk_id="lesson-1-0")
    gone = Suggestion(page_title="Limits", section_heading="Weekly", chunk_id="lesson-9-0")

    async def refuse(question: IncomingQuestion, progress: Progress) -> AgentResponse:
        return a_refusal(question, suggestions=(near, bare, gone))

    house.answerer = refuse
    async with visiting(house) as client:
        asked = (await client.post("/chat/run", json=ASK)).json()
        piece = (await client.get(f"/page/answers/{asked['answer_id']}")).text
    assert "Maybe look here" in piece
    assert "Limits › Files" in piece
    assert 'href="https://docs.example.com/files"' in piece
    there = "/read/lesson-1?passage=lesson-1-0#passage-lesson-1-0"
    assert f'<li><a href="{there}">Limits › Daily</a></li>' in piece
    assert "<li>Limits › Weekly</li>" in piece


async def test_a_question_that_failed_can_be_asked_again_and_not_rated() -> None:
    async def fail(question: IncomingQuestion, progress: Progress) -> AgentResponse:
        return an_error(question)

    async with visiting(House(answerer=fail)) as client:
        asked = (await client.post("/chat/run", json=ASK)).json()
        piece = (await client.get(f"/page/answers/{asked['answer_id']}")).text
    assert "not available right now" in piece
    assert 'data-act="retry"' in piece
    assert 'data-act="helpful"' not in piece


async def test_what_askers_and_documents_wrote_is_shown_as_text() -> None:
    script = "<script>alert(1)</script>"
    house = House(index=MemoryIndex(a_result(0, text=f"{script} Long enough.", page_title=script)))
    answer = an_answer(
        GuardedText(f"{script} [1]."),
        citations=(a_citation(page_title=script, section_heading='"><img src=x>', quote=script),),
    )
    house.answerer = None  # type: ignore[assignment]
    page = await page_of(answer, house)
    assert script not in page
    assert "<img" not in page
    async with visiting(house) as client:
        lesson = (await client.get("/read/lesson-1", params={"quote": script})).text
    assert script not in lesson


async def test_a_page_that_is_loaded_in_the_middle_knows_the_open_question() -> None:
    house = House(works=False)
    async with visiting(house, a_config(wait_seconds=0.01)) as client:
        session = "5b0c8a52-6a53-4a8e-9a55-1f5b8d3f2c11"
        await client.post("/chat/run", json=ASK | {"session_id": session})
        page = (await client.get("/", params={"thread": session})).text
    (entry,) = house.ledger.entries.values()
    assert f'data-message="{entry.question.message_id}"' in page
    assert f'data-thread="{session}"' in page
    assert "Waiting for a turn" in page.split("<template")[0]


@pytest.mark.parametrize("thread", ["", "nope", "5b0c8a52-6a53-4a8e-9a55-1f5b8d3f2c11"])
async def test_a_thread_that_is_not_there_shows_the_welcome(thread: str) -> None:
    async with visiting(House()) as client:
        page = (await client.get("/", params={"thread": thread})).text
    assert 'id="welcome"' in page
    assert 'data-thread=""' in page


async def test_the_reading_page_shows_a_lesson_whole_with_the_quote_marked() -> None:
    async with visiting(House()) as client:
        page = (
            await client.get(
                "/read/lesson-1", params={"passage": "lesson-1-0", "quote": "any 60 seconds"}
            )
        ).text
        plain = (await client.get("/read/lesson-1")).text
    assert "<mark>any 60 seconds</mark>" in page.replace(" in <mark>", " <mark>")
    assert 'id="passage-lesson-1-0"' in page
    assert "Probes and refused requests" in page
    assert "<mark>" not in plain


@pytest.mark.parametrize("path", ["/read/unknown", "/nowhere"])
async def test_a_person_who_is_lost_gets_a_page_and_a_program_a_problem(path: str) -> None:
    async with visiting(House()) as client:
        person = await client.get(path, headers={"Accept": "text/html,application/xhtml+xml"})
        program = await client.get(path)
    assert person.status_code == program.status_code == 404
    assert person.headers["content-type"].startswith("text/html")
    assert "Footnote" in person.text
    assert program.headers["content-type"] == "application/problem+json"


async def test_whoever_signed_in_can_sign_out_and_others_need_not() -> None:
    async with visiting(House(), a_config(open_loopback=True), key="") as client:
        assert 'id="sign-out"' not in (await client.get("/")).text
        assert (await client.get("/sign-in")).headers["location"] == "/"
    async with visiting(House()) as client:
        assert 'id="sign-out"' in (await client.get("/")).text
    async with visiting(House(), with_keys(), key="ask-key-1") as client:
        assert 'id="sign-out"' in (await client.get("/")).text


async def test_a_sections_heading_stands_once() -> None:
    passages = [
        a_result(0, total=3, text="## Requests\n\nA hundred of them."),
        a_result(1, total=3, text="And no more than that."),
        a_result(2, total=3, text="Files are not counted.", section_heading="Files"),
    ]
    async with visiting(House(index=MemoryIndex(*passages))) as client:
        page = (await client.get("/read/lesson-1")).text
    headings = re.findall(r"<h([1-6])>(.*?)</h\1>", page)
    assert headings == [("1", "Limits"), ("2", "Requests"), ("2", "Files")]
