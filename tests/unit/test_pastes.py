"""A message too long to be a question is split into its question and the paste beside it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.pastes import GAP, LONGEST_PASTE, condense, fit_context, split_message
from rag_core.agent.paste import without_paste
from rag_core.conversation.context import MAX_CONTEXT, ContextItem, ContextKind
from rag_core.conversation.question import MAX_QUESTION, Question

LOG = "\n".join(f"{number}: something happened" for number in range(600))


def test_what_fits_stays_as_it_is() -> None:
    for text in (" why?\n", "x" * MAX_QUESTION):
        split = split_message(text)
        assert (split.question, split.context) == (text.strip(), ())
        assert split.original_length == 0


@pytest.mark.parametrize(
    "text",
    [
        f"Why does it stop?\n\n{LOG}",
        f"{LOG}\n\nWhy does it stop?",
        f"```\nwhat?\n\n{LOG}\n```\nWhy does it stop?",
        f"I ran it.\n\n~~~\n{LOG}\n~~~\n\nWhy does it stop?\n\nI use Linux.",
        f"Why does it stop?\n2026-01-01 12:00:00 GET /a?b=c\nERROR is that all?\n\n{LOG}",
        f"> somebody wrote: is this quoted?\n\nWhy does it stop?\n\n{LOG}",
    ],
)
def test_the_question_is_found_wherever_it_stands(text: str) -> None:
    split = split_message(text)
    assert split.question == "Why does it stop?"
    [paste] = split.context
    assert paste.kind is ContextKind.PASTE
    assert GAP in paste.text
    assert "0: something" in paste.text
    assert "599: something happened" in paste.text
    assert split.original_length == len(text)


def test_error_lines_in_the_middle_of_a_paste_are_kept() -> None:
    half = LOG.replace("something", "nothing much")
    split = split_message(f"Why does it stop?\n\n{half}\nERROR E42: the tray is locked\n{half}")
    assert "ERROR E42: the tray is locked" in split.paste
    assert len(split.paste) <= LONGEST_PASTE


def test_without_a_question_mark_what_asks_comes_before_other_words() -> None:
    assert split_message(f"It stops here.\n\n{LOG}").question == "It stops here."
    asked = split_message(f"I ran it at night.\n\nIt does not start any more.\n\n{LOG}").question
    assert asked == "It does not start any more."


def test_a_bare_log_asks_about_the_error_that_it_ends_with() -> None:
    lines = "\n".join(f"2026-01-01 12:00:{n:02} INFO working" for n in range(60))
    split = split_message(f"{lines}\n2026-01-01 12:01:00 ERROR E42: the tray is locked")
    assert split.question.endswith("ERROR E42: the tray is locked")


def test_a_question_within_one_huge_paragraph_is_kept_with_what_is_before_it() -> None:
    split = split_message("word " * 500 + "so why does it stop? " + "more " * 300)
    assert split.question.endswith("so why does it stop?")
    assert split.paste.endswith("more")


@given(text=st.text(alphabet=st.sampled_from("abE? \n`~>é👍\u0301\u200d"), max_size=6_000))
def test_whatever_is_written_comes_out_as_a_question_within_its_bounds(text: str) -> None:
    split = split_message(text)
    assert len(split.question) <= MAX_QUESTION
    assert bool(split.question) == bool(text.strip())
    assert len(split.paste) <= LONGEST_PASTE
    if text.strip("\n \u0301\u200d"):
        Question(message=split.question, context=split.context)


@given(text=st.text(alphabet="aE: \n", max_size=3_000), room=st.integers(60, 3_000))
def test_a_condensed_text_is_never_longer_than_its_room(text: str, room: int) -> None:
    assert len(condense(text, room)) <= room


@given(
    sizes=st.lists(
        st.tuples(st.sampled_from(list(ContextKind)), st.integers(0, 12_000)), max_size=30
    )
)
def test_context_of_any_length_is_made_to_fit(sizes: list[tuple[ContextKind, int]]) -> None:
    items = [ContextItem(kind=kind, text="x" * size, author="Ann") for kind, size in sizes]
    fitted = fit_context(items)
    Question(message="Why?", context=fitted)
    assert sum(item.size for item in fitted) <= MAX_CONTEXT


def test_files_come_before_talk_and_of_the_talk_the_head_and_the_newest() -> None:
    talk = [
        ContextItem(kind=ContextKind.THREAD, text=f"{number} " + "x" * 1_000)
        for number in range(40)
    ]
    file = ContextItem(kind=ContextKind.ATTACHMENT, text="f" * 6_000)
    fitted = fit_context([*talk, file])
    assert file in fitted
    assert fitted[0].text.startswith("0 ")
    assert fitted[-2].text.startswith("39 ")


def printed(*lines: str, size: int = 4_000) -> str:
    """What a program prints, line after line, until there is enough of it."""
    number, text = 0, ""
    while len(text) < size:
        text += lines[number % len(lines)].replace("%N", str(number)) + "\n"
        number += 1
    return text.rstrip()


PRINTED = {
    "log": printed("2026-03-01 09:00:%N INFO kitchen: job %N ran", "09:00:%N ERROR socket closed"),
    "npm": printed("npm ERR! errno %N", "npm ERR! This is probably not a problem with npm."),
    "java": "Exception in thread main\n"
    + printed("\tat com.example.Service%N.run(Service.java:%N)"),
    "json": printed('{"level":"error","ts":%N,"msg":"what happened?","path":"/x?y=1"}'),
    "gcc": printed("main.c:%N:5: error: expected a semicolon", "    return x;", "    ^~~~~"),
    "systemd": printed("Mar 01 09:00:%N host systemd[1]: Started Session %N of user root."),
    "words": printed("Compiling module number %N", "All checks have passed so far, going on"),
    "csv": printed("name,age,city,%N", "peter,12,berlin,%N"),
    "html": printed('<div class="x%N"><a href="/y?z=1">Go?</a></div>', "<p>Is this %N?</p>"),
    "rust": printed("error[E0502]: cannot borrow `v` as mutable", " --> src/main.rs:%N:5", "  |"),
}
ASKED = (
    "How do I unlock the tray?",
    "how do i unlock the tray of the second oven",
    "nice but now the tray is stuck halfway",
    "Wie öffne ich die Klappe?",
    "¿Cómo abro la bandeja?",
)
FORMS = (
    "{asked}\n\n{log}",
    "{asked}\n{log}",
    "{log}\n\n{asked}",
    "{log}\n{asked}",
    "{asked}\n```\n{log}\n```",
    "hi all\n\n{asked}\n\n{log}\n\nthanks!",
)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("log", PRINTED)
@pytest.mark.parametrize("asked", ASKED)
def test_the_question_is_found_beside_whatever_was_printed(asked: str, log: str, form: str) -> None:
    split = split_message(form.format(asked=asked, log=PRINTED[log]))
    assert split.question == asked
    assert PRINTED[log].splitlines()[-1] in split.paste


def test_a_short_message_with_a_trace_is_searched_by_its_question_and_the_error() -> None:
    log = printed("2026-03-01 09:00:%N INFO kitchen: job %N ran", size=300)
    message = f"how do i unlock the tray\n{log}\nRuntimeError: the lid is open"
    assert without_paste(message) == "how do i unlock the tray RuntimeError: the lid is open"
