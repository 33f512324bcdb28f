"""The answer is the passage: whole blocks, the best sections, the words that answer marked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.agent.checks.guard import guarded
from rag_core.agent.phrases import PHRASES, Phrases
from rag_core.reading.passage_answer import (
    Asked,
    PassageAnswer,
    nearest_sections,
    passage_answer,
)
from rag_core.reading.quotations import quoted_sections
from rag_core.reading.sections import ReadSection
from rag_core.reading.units import word_count
from tests.fakes.sections import read_section

ENGLISH = PHRASES["en"]
FILLER = "This paragraph tells of something else in quite a lot of words, again and again. " * 5
STEPS = "To start it:\n\n1. Open a terminal.\n2. Run `basil sim`.\n3. Wait for the light."


def answer(*sections: ReadSection, phrases: Phrases = ENGLISH) -> PassageAnswer:
    return passage_answer([Asked(question="?", sections=sections)], phrases)


def nearest(*sections: ReadSection) -> PassageAnswer:
    return nearest_sections([Asked(question="?", sections=sections)], ENGLISH)


def test_a_section_is_quoted_below_its_place_with_one_marker() -> None:
    said = answer(read_section("Ten files a day. No more.", {"Ten files": 0.9}))
    assert said.text == "**Handbook › Limits** [1]\n> Ten files a day. No more."
    (note,), (mark,) = said.citations, said.marks
    assert (note.number, note.quote) == (mark.number, mark.quote) == (1, "Ten files a day.")
    assert note.page_url is not None
    assert ":~:text=Ten" in note.page_url


def test_of_a_long_section_what_answers_is_shown_and_the_gap_is_marked() -> None:
    text = f"{FILLER}\n\n{FILLER}\n\nTen files a day.\n\n{FILLER}"
    said = answer(read_section(text, {"Ten files": 0.9}))
    assert "Ten files a day." in said.text
    assert word_count(said.text) < 160


def test_steps_stay_whole_with_the_line_that_leads_to_them() -> None:
    said = answer(read_section(f"{FILLER}\n\n{STEPS}\n\n{FILLER}", {"basil sim": 0.9}))
    assert "> To start it:\n>\n> 1. Open a terminal.\n> 2. Run `basil sim`.\n> 3. Wait" in said.text


def test_code_stays_whole_with_what_stands_above_it() -> None:
    code = "> Save this:\n>\n> ```yaml\n> name: toast\n> heat: 180\n> steps[3]: x\n> ```"
    text = code.replace("> ", "").replace(">", "")
    said = answer(read_section(f"{FILLER}\n\n{text}\n\n{FILLER}", {"heat: 180": 0.9}))
    assert code in said.text


def test_a_list_longer_than_twelve_says_how_many_items_are_left_out() -> None:
    items = "\n".join(f"- thing number {n}" for n in range(40))
    said = answer(read_section(f"There are:\n\n{items}", {"number 33": 0.9}))
    assert "There are:" in said.text
    assert "thing number 33" in said.text
    assert said.text.count("> - thing") == 12
    assert "… and 28 more" in said.text


def test_numbered_steps_of_a_long_list_keep_their_numbers() -> None:
    items = "\n".join(f"{n}. step of number {n}" for n in range(1, 41))
    said = answer(read_section(items, {"number 33": 0.9}))
    assert "33. step of number 33\n" in said.text
    assert "… and 28 more" in said.text


def test_a_table_longer_than_twelve_keeps_its_head() -> None:
    rows = "\n".join(f"| plan {n} | {n} files |" for n in range(40))
    said = answer(read_section(f"| Plan | Limit |\n|---|---|\n{rows}", {"plan 33": 0.9}))
    assert "> | Plan | Limit |\n> |---|---|" in said.text
    assert "| plan 33 | 33 files |" in said.text
    assert "… and 28 more" in said.text


def test_a_second_section_is_shown_where_it_answers_nearly_as_well() -> None:
    first = read_section("Free plans have ten files.", {"Free": 0.9}, heading="Free")
    rival = read_section("Teams have fifty files.", {"Teams": 0.8}, heading="Teams", relevance=0.95)
    far = read_section("Cats sleep a lot.", {"Cats": 0.3}, heading="Cats", relevance=0.5)
    said = answer(first, rival, far)
    assert [note.section_heading for note in said.citations] == ["Free", "Teams"]
    assert "[2]\n> Teams have fifty files." in said.text
    assert "Cats" not in said.text


def test_each_of_several_questions_gets_its_section_and_open_ones_are_named() -> None:
    asked = [
        Asked(question="How many files?", sections=[read_section("Ten files.", {"Ten": 0.9})]),
        Asked(question="Who?", sections=[read_section("Ann helps.", {"Ann": 0.9}, heading="Help")]),
    ]
    said = passage_answer(asked, ENGLISH, open_questions=["What does it cost?"])
    assert [mark.quote for mark in said.marks] == ["Ten files.", "Ann helps."]
    assert said.text.endswith("The documents do not cover this part: “What does it cost”.")


def test_a_section_that_answers_two_questions_is_quoted_once() -> None:
    section = read_section("Ten files a day.", {"Ten": 0.9})
    said = passage_answer([Asked(question=q, sections=[section]) for q in ("a?", "b?")], ENGLISH)
    assert len(said.citations) == len(said.marks) == said.text.count("Ten files") == 1


def test_where_no_answer_is_sure_the_nearest_sections_show_their_best_lines() -> None:
    sections = [
        read_section(
            f"Ten files a day in plan {n}. {FILLER}{FILLER}",
            {"Ten files": 0.9},
            heading=f"Part {n}",
            relevance=1 - n / 100,
        )
        for n in range(3)
    ]
    said = nearest(*sections)
    assert said.text.startswith(ENGLISH.nearest)
    assert 2 <= len(said.citations) <= 3
    assert "Ten files a day in plan 1." in said.text
    for part in said.text.split("**Handbook")[1:]:
        assert word_count(part) <= 115


@pytest.mark.parametrize(
    ("before", "line", "after", "shown"),
    [
        ("", "{n}. Do step {n} with some care, please", "", "20. Do step 20"),
        ("```py\n", "line_{n} = value_{n} + {n}", "\n```", "> ```py\n> …"),
        ("| a | b |\n|---|---|\n", "| row {n} | x y z x y z {n} |", "", "| a | b |\n> |---|---|"),
    ],
)
def test_the_best_lines_of_a_long_block_are_still_such_a_block(
    before: str, line: str, after: str, shown: str
) -> None:
    body = "\n".join(line.format(n=n) for n in range(1, 61))
    best = line.format(n=20)
    said = nearest(read_section(f"{before}{body}{after}", {best.split(". ")[-1]: 0.9}))
    assert best in said.text
    assert shown in said.text
    assert "…" in said.text
    assert word_count(said.text) < 125


def test_a_number_in_brackets_in_a_document_is_no_footnote() -> None:
    said = answer(read_section("As Ann says [3], take `x[3]`.", {"Ann": 0.9}))
    assert "Ann says (3), take `x[3]`" in said.text


def test_a_heading_cannot_format_the_answer() -> None:
    said = answer(read_section("Ten a day.", {}, heading="The `a` *b* [2] list"))
    assert quoted_sections(guarded(said.text)) == 1
    assert [note.number for note in said.citations] == [1]
    assert "\\[2\\]" in said.text


def test_lines_of_the_source_file_do_not_break_the_sentence() -> None:
    said = answer(read_section("Ten files\na day, and\nno more.", {"Ten": 0.9}))
    assert "> Ten files a day, and no more." in said.text


def test_without_sections_there_is_no_answer() -> None:
    assert answer() == PassageAnswer(text="")
    assert nearest() == PassageAnswer(text="")


@pytest.mark.parametrize("language", sorted(PHRASES))
def test_what_is_left_out_is_said_in_the_askers_language(language: str) -> None:
    items = "\n".join(f"- thing {n}" for n in range(20))
    said = answer(read_section(items, {}), phrases=PHRASES[language])
    assert PHRASES[language].more.format(number=8) in said.text


@given(st.text(alphabet="ab. \n-*>|`#:?[]()1é中。<&_~", max_size=160), st.integers(0, 3))
def test_whatever_a_section_holds_each_shown_one_has_its_marker(text: str, others: int) -> None:
    sections = [
        read_section(f"Part {n}. {text}", {"Part": 0.9}, heading=f"h{n}", relevance=1 - n / 50)
        for n in range(others + 1)
    ]
    for said in (answer(*sections), nearest(*sections)):
        shown = guarded(said.text)
        numbers = [note.number for note in said.citations]
        assert numbers == [mark.number for mark in said.marks] == list(range(1, len(numbers) + 1))
        assert all(shown.count(f"[{number}]") == 1 for number in numbers)
        assert all(mark.quote for mark in said.marks)


def test_the_label_of_a_note_stays_with_its_text() -> None:
    text = f"{FILLER}\n\n**Tip**\n\nPatterns go into the file `.ignore`.\n\n{FILLER}"
    said = answer(read_section(text, {"Patterns": 0.9}))
    assert "> **Tip**\n>\n> Patterns go into" in said.text
    alone = answer(read_section(text, {"tells of something": 0.9}))
    assert "Tip" not in alone.text or "Patterns" in alone.text


def test_of_a_long_paragraph_the_sentences_that_answer_are_shown() -> None:
    text = f"{FILLER}{FILLER}Ten files a day are allowed to each of you. {FILLER}{FILLER}{FILLER}"
    said = answer(read_section(text, {"Ten files": 0.9}))
    assert "Ten files a day" in said.text
    assert said.text.splitlines()[1].startswith("> … This paragraph")
    assert word_count(said.text) < 125
    whole = answer(read_section(f"{FILLER}Ten files a day.", {"Ten files": 0.9}))
    assert whole.text.splitlines()[1:] == [f"> {FILLER}Ten files a day."]


def test_a_picture_is_nothing_that_answers() -> None:
    text = "![ten files a day](shot.png)\n\nEach member may upload ten files.\n"
    said = answer(read_section(text, {"ten files": 0.9}))
    assert [mark.quote for mark in said.marks] == ["Each member may upload ten files."]


@pytest.mark.parametrize(("rows", "shown"), [(15, 15), (16, 12)])
def test_a_table_is_not_cut_for_the_sake_of_a_few_rows(rows: int, shown: int) -> None:
    table = "\n".join(f"| plan {n} | {n} files |" for n in range(rows))
    said = answer(read_section(f"| Plan | Limit |\n| --- | --- |\n{table}", {"plan 3 ": 0.9}))
    assert said.text.count("> | plan") == shown
