"""What a model thinks aloud is no part of its answer, however it is cut."""

from __future__ import annotations

import pytest

from rag_core.agent.prompts import NOT_COVERED
from rag_core.agent.thinking import AnswerText

ANSWER = "Ten files a day [1]."


def read(reply: str, size: int) -> tuple[str, list[str]]:
    """The answer, and all that was shown at one time or another."""
    answer, shown, seen = AnswerText(), "", []
    for at in range(0, len(reply), size):
        more, restart = answer.add(reply[at : at + size])
        shown = more if restart else shown + more
        seen.append(shown)
    seen.append(shown + answer.end())
    return answer.text, seen


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 11, 1_000])
@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (ANSWER, ANSWER),
        (f"<think>secret</think>{ANSWER}", ANSWER),
        (f"<think>\nsecret\n\nsecret [1]\n</think>\n\n{ANSWER}", ANSWER),
        (f"<THINK>secret</THINK >{ANSWER}", ANSWER),
        (f"<thinking>secret</thinking>{ANSWER}", ANSWER),
        (f"<think>a <think>secret</think> secret</think>{ANSWER}", ANSWER),
        ("Ten files <think>secret</think>a day [1].", ANSWER),
        (f"<think>secret</think>{ANSWER}<think>secret", ANSWER),
        ("<think>secret and no end", ""),
        (f"secret without a beginning</think>{ANSWER}", ANSWER),
        ("Set `<think>` to stop it [1].", "Set `<think>` to stop it [1]."),
        ("```\n<think>x</think>\n```\nSo [1].", "```\n<think>x</think>\n```\nSo [1]."),
        ("If a < b and b <thi", "If a < b and b <thi"),
    ],
)
def test_thoughts_are_left_out(reply: str, answer: str, size: int) -> None:
    text, seen = read(reply, size)
    assert text.strip() == answer
    assert seen[-1].strip() == answer
    if not reply.startswith("secret"):  # that these are thoughts shows at their end only
        assert not any("secret" in shown for shown in seen)


@pytest.mark.parametrize("size", [1, 3, 1_000])
@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        (NOT_COVERED, ""),
        (f"**{NOT_COVERED}**", ""),
        (f"{ANSWER}\n{NOT_COVERED}: the price", f"{ANSWER}\n"),
        (f"{ANSWER}\n{NOT_COVERED}: the price\nMore [2].", f"{ANSWER}\nMore [2]."),
        ("NOTE: ten [1].\nNOT_YET [2].", "NOTE: ten [1].\nNOT_YET [2]."),
    ],
)
def test_the_word_of_a_refusal_is_never_shown(reply: str, shown: str, size: int) -> None:
    text, seen = read(reply, size)
    assert text == reply
    assert seen[-1] == shown
    assert not any(NOT_COVERED in each for each in seen)
