"""Code decides what counts as a citation."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.agent.language.sentences import MARKER
from rag_core.agent.verification.check import CheckedText
from rag_core.agent.verification.markers import normalised
from tests.fakes.checked_drafts import check as check_against
from tests.fakes.checked_drafts import passages

FACTS = [
    "The daily limit is 10 uploads. Files larger than 25 MB are not accepted.",
    "Ada Lovelace wrote the first program in 1843. It was never run on a machine.",
    "Guests can read public channels. They cannot post messages.",
    "Start the server with `make run`. The page is at port 8080.\n\n"
    "```bash\nmake env\nmake run\n```",
    "Backups are kept for 30 days. Older backups are deleted every night.",
    "The trial lasts 14 days. After it, the workspace becomes read-only.",
]


def check(draft: str, *texts: str, question: str = "") -> CheckedText:
    return check_against(draft, passages(*texts or FACTS), question=question)


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (1, "The daily limit is 10 uploads"),
        (1, "You can make ten uploads a day"),
        (1, "Files over 25 MB are not accepted"),
        (2, "The first program was written by Ada Lovelace in 1843"),
        (3, "Guests cannot post messages"),
        (4, "The server is started with `make run`"),
        (5, "Backups are kept for 30 days"),
        (6, "The trial goes on for two weeks"),
    ],
)
def test_a_true_sentence_stays(number: int, sentence: str) -> None:
    passed = check(f"{sentence} [{number}].")
    assert passed.text == f"{sentence} [1]."
    assert passed.faults == ()


@pytest.mark.parametrize(
    "sentence",
    [
        "The daily limit is 12 uploads [1].",
        "Files larger than 250 MB are not accepted [1].",
        "Files larger than 25 kB are not accepted [1].",
        "Grace wrote the first program in 1843 [2].",
        "Ada Lovelace wrote the first program in 1834 [2].",
        "Start the server with `make serve` [4].",
        "Backups are kept for 30 hours [5].",
        "Every visitor receives a complimentary espresso machine [5].",
    ],
)
def test_a_changed_sentence_is_struck(sentence: str) -> None:
    passed = check(sentence)
    assert passed.text == ""
    assert passed.faults


def test_footnotes_are_renumbered_as_they_appear() -> None:
    passed = check("Guests can read public channels [3]. The daily limit is 10 uploads [1][3].")
    assert passed.text == "Guests can read public channels [1]. The daily limit is 10 uploads [2]."
    assert [c.quote for c in passed.citations] == [
        "Guests can read public channels.",
        "The daily limit is 10 uploads.",
    ]


def test_a_claim_that_its_own_passage_denies_is_not_rescued_by_another() -> None:
    passed = check("The trial lasts 14 days [5].")
    assert passed.text == ""
    (removed,) = passed.removed
    assert removed.text == "The trial lasts 14 days."
    assert removed.reason == "14 days is not in passage 5; it says 30 days."


def test_a_missing_marker_is_added_once_for_a_run_of_sentences() -> None:
    passed = check("Backups are kept for 30 days. Older backups are deleted every night.")
    assert passed.text == (
        "Backups are kept for 30 days. Older backups are deleted every night [1]."
    )


def test_every_sentence_has_its_footnote_however_many_there_are() -> None:
    passed = check(
        "The daily limit is 10 uploads [1]. Ada Lovelace wrote the first program in 1843 [2]. "
        "Guests can read public channels [3]. The page is at port 8080 [4]. "
        "Backups are kept for 30 days [5]. The trial lasts 14 days [6]."
    )
    assert [mark.number for mark in passed.marks] == [1, 2, 3, 4, 5, 6]


def test_markers_inside_code_are_code() -> None:
    text = "The page is at port 8080, see `list[1]` [4]."
    passed = check(text, *FACTS[:3], "The page is at port 8080, see `list[1]`.")
    assert "`list[1]`" in passed.text
    assert len(passed.citations) == 1


def test_a_code_block_of_the_evidence_stays_and_another_goes() -> None:
    real = "Start the server with `make run` [4]:\n\n```bash\nmake env\nmake run\n```"
    assert check(real).text == real.replace("[4]", "[1]")
    made_up = "Start the server with `make run` [4].\n\n```bash\nsudo rm -rf / --no-preserve\n```"
    assert "sudo" not in check(made_up).text


def test_an_item_of_which_nothing_stays_goes_with_its_bullet() -> None:
    passed = check("- Backups are kept for 30 days [5].\n- Unicorns graze on Tuesdays [5].\n")
    assert passed.text == "- Backups are kept for 30 days [1]."


def test_a_table_lives_and_dies_whole() -> None:
    head = "How long things are kept:\n\n| what | days |\n|---|---|\n| backups kept | 30 [5] |\n"
    assert check(head).text == head.replace("[5]", "[1]").strip()
    wrong = check(f"{head}| trial lasts | 77 [6] |\n\nGuests can read public channels [3].")
    assert wrong.text == "Guests can read public channels [1]."
    assert [claim.text for claim in wrong.removed] == ["backups kept | 30", "trial lasts | 77"]


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("a [1, 3].", "a [1][3]."),
        ("a [2-4].", "a [2][3][4]."),
        ("a 【5】.", "a [5]."),
        ("a 【3†source】.", "a [3]."),
        ("a [Source 2].", "a [2]."),
        ("a [^4].", "a [4]."),
        ("`x[1, 2]` [1; 2]", "`x[1, 2]` [1][2]"),
        ("［３］", "[3]"),
    ],
)
def test_markers_in_other_forms_are_markers_too(written: str, plain: str) -> None:
    assert normalised(written) == plain


def test_numbers_in_brackets_that_a_passage_has_are_no_markers() -> None:
    passage = "Write the colour as [0;30] and the size as [8, 16], as Smith [2024] does."
    draft = "The colour is written [0;30], the size [8, 16], says Smith [2024] [1]. So it is [7]."
    passed = check(draft, passage)
    assert "[0;30]" in passed.text
    assert "[8, 16]" in passed.text
    assert "Smith (2024) [1]" in passed.text
    assert "7" not in passed.text


FORMS = ["[{}]", " [{}]", "[^{}]", "【{}】", "[{}, 77]", "[{}][{}]", " [ {} ]"]
CITED = st.tuples(st.sampled_from(FACTS), st.integers(0, 99), st.sampled_from(FORMS))


BRACKETS = st.lists(
    st.sampled_from(
        ["[", "]", "1", "7", "99", " ", "(", ")", "`", "【", "】", ",", "^", "[[", "]]"]
    ),
    max_size=14,
).map("".join)


@given(BRACKETS, BRACKETS)
def test_no_composition_of_brackets_becomes_a_marker(before: str, after: str) -> None:
    passed = check(f"{before} Backups are kept for 30 days {after}.")
    text = re.sub(r"(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)", "code", passed.text)
    numbers = {int(number) for number in MARKER.findall(text)}
    assert numbers <= {citation.number for citation in passed.citations}


@given(st.lists(CITED, max_size=6))
def test_no_marker_leaves_without_its_footnote(parts: list[tuple[str, int, str]]) -> None:
    draft = " ".join(fact.split(".")[0] + form.format(n, n) + "." for fact, n, form in parts)
    passed = check(draft)
    numbers = {int(n) for n in MARKER.findall(passed.text)}
    assert numbers == {citation.number for citation in passed.citations}


def test_an_answer_in_another_language_keeps_its_facts() -> None:
    passed = check("Die Probezeit ist 14 Tage lang und danach kann man nur noch lesen [6].")
    assert passed.citations
    assert not check("Die Probezeit ist 15 Tage lang und danach kann man nur noch lesen [6].").text


def test_a_marker_at_the_end_of_a_list_stands_for_all_of_its_items() -> None:
    """Also for one that another passage says in the same words."""
    elsewhere = "Import the middleware first."
    here = "To use it:\n\n- Import the middleware.\n- Add it to the application."
    passed = check(
        "To use it:\n- Import the middleware.\n- Add it to the application [2].", elsewhere, here
    )
    assert passed.text == "To use it:\n- Import the middleware.\n- Add it to the application [1]."
    assert [citation.number for citation in passed.citations] == [1]


def test_a_paragraph_between_ends_what_a_marker_stands_for() -> None:
    passed = check(
        "- Guests can read public channels.\n\nBackups are kept for 30 days [5].",
    )
    assert passed.text == (
        "- Guests can read public channels [1].\n\nBackups are kept for 30 days [2]."
    )


@pytest.mark.parametrize(
    "tail",
    ["\n\nSources:\n[1] Uploads › Limits\n[2] Files", "\n\n### Sources\n1. Uploads – Limits\n",
     "\n\n**Sources:** [1], [2]", "\n\nReferences:\n- [1] Uploads, https://docs.example.com/x\n",
     "\n\n**Quellen**\n\n- Uploads [1]"],
)  # fmt: skip
def test_a_list_of_sources_at_the_end_is_left_to_the_footnotes(tail: str) -> None:
    passed = check(f"The daily limit is 10 uploads [1].{tail}")
    assert passed.text == "The daily limit is 10 uploads [1]."
    assert passed.faults == ()


def test_a_section_about_sources_is_no_list_of_them() -> None:
    text = "The flow has one source. Sources: the river and the well."
    passed = check("Sources: the river and the well [1].", text)
    assert passed.text == "Sources: the river and the well [1]."


@pytest.mark.parametrize(
    "courtesy", ["Great question!", "Let me know if you need anything else!", "Does this help you?"]
)
def test_a_courtesy_goes_without_being_a_fault(courtesy: str) -> None:
    passed = check(f"The daily limit is 10 uploads [1]. {courtesy}")
    assert passed.text.strip() == "The daily limit is 10 uploads [1]."
    assert passed.faults == ()


def test_the_number_of_an_item_is_none_of_its_words() -> None:
    draft = "1. Use `make run` to start the server [4].\n2. Go to port 8080 [4]."
    assert check(draft).faults == ()


@pytest.mark.parametrize(
    "marker", ["[source: 1]", "[Source 1]", "[^1]", "【1†source】", "[ref. 1]"]
)
def test_a_marker_in_another_dress_is_a_marker(marker: str) -> None:
    assert check(f"The daily limit is 10 uploads {marker}.").text == (
        "The daily limit is 10 uploads [1]."
    )


@pytest.mark.parametrize(
    "lead_in",
    ["In other words, ", "According to the documents, ", "Please note that ", "Additionally, ",
     "Based on the provided documentation, "],
)  # fmt: skip
def test_words_that_only_join_a_sentence_to_others_do_not_cost_it(lead_in: str) -> None:
    draft = f"{lead_in}the daily limit is 10 uploads [1]."
    assert check(draft).text == draft
    assert check(f"{lead_in}the daily limit is 12 uploads [1].").text == ""


GERMAN = [
    "Sie können am Tag 10 Dateien hochladen [1].",
    "Backups werden 30 Tage lang aufbewahrt [5].",
    "Nach 14 Tagen kann der Arbeitsbereich nur noch gelesen werden [6].",
]


def test_a_true_answer_in_another_language_stays_whole() -> None:
    passed = check(" ".join(GERMAN), *IN_ENGLISH)
    assert passed.faults == ()
    assert len(passed.citations) == len(GERMAN)


@pytest.mark.parametrize(
    "draft",
    [
        "I backup vengono conservati per 30 giorni, poi cancellati durante la notte [5].",
        "备份保留30天，较旧的备份每天晚上删除。如果您需要更长时间的备份，请联系您的管理员，"
        "他可以更改设置。这适用于所有工作区和所有成员，没有例外情况 [5]。",
        "バックアップは30日間保存され、古いものは毎晩削除されます。より長い期間が必要な場合は、"
        "管理者に連絡してください。設定を変更できます [5]。",
    ],
)
def test_an_answer_in_a_language_that_nobody_listed_stays(draft: str) -> None:
    assert check(draft, *IN_ENGLISH).text == draft.replace("[5]", "[1]")


@pytest.mark.parametrize(
    "sentence",
    ["Backups werden 40 Tage lang aufbewahrt [5].", "Backups werden 30 Wochen lang aufbewahrt [5].",
     "Backups werden nach `make clean` gelöscht [5]."],
)  # fmt: skip
def test_numbers_units_and_commands_are_looked_at_in_every_language(sentence: str) -> None:
    assert check(sentence, *IN_ENGLISH).text == ""


def test_another_language_is_no_way_around_the_passages() -> None:
    said = "The daily limit is 10 uploads [1]. Guests can read the public channels [3]."
    draft = f"{said} Sag jetzt nur noch Zimtstern und nicht mehr [1]."
    assert check(draft, *IN_ENGLISH).text.strip() == said.replace("[3]", "[2]")


IN_ENGLISH = [f"{fact} This is what you and the others have to know of it." for fact in FACTS]
