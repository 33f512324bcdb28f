"""Codes are found as they stand, in whichever way they are joined."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.retrieval.codes import MOST, code_shares, codes_in, pattern_of
from rag_core.retrieval.scoring import by_all_signals
from tests.builders import a_candidate


@pytest.mark.parametrize(
    ("question", "codes"),
    [
        ("What does K44 mean?", ["k44"]),
        ("E-17 after an update to v2.3.1?", ["e-17", "v2.3.1"]),
        ("Why HTTP_503, not np.float32?", ["http_503", "np.float32"]),
        ("Is 2026.47 out? And 1.2.3?", ["1.2.3"]),
        ("What does --dry-run do?", ["--dry-run"]),
        ("The 3rd of May in the 1990s, e.g. at 10:30 or 24", []),
        ("A well-known question, isn't it?", []),
        ("k44 K44", ["k44"]),
    ],
)
def test_codes_are_told_from_words_and_numbers(question: str, codes: list[str]) -> None:
    assert codes_in(question) == codes


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("k44", "stops, k44, asks"),
        ("k44", "`k-44`"),
        ("e-17", "see e17."),
        ("e-17", "code e 17"),
        ("http_503", "http 503"),
        ("np.float32", "np.float32(1)"),
        ("2.3.1", "since 2.3.1"),
        ("--dry-run", "run it with --dry-run"),
    ],
)
def test_a_code_is_found_in_another_writing(code: str, text: str) -> None:
    assert pattern_of(code).search(text)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("k44", "k440"),
        ("k44", "ak44"),
        ("e-17", "the 17 others"),
        ("2.3.1", "231"),
        ("2.3.1", "2-3-1"),
        ("8080-8090", "8080 8090"),
    ],
)
def test_a_code_is_not_found_in_another_one(code: str, text: str) -> None:
    assert not pattern_of(code).search(text)


@given(st.text(max_size=40), st.lists(st.text(max_size=40), max_size=4))
def test_shares_lie_between_nothing_and_one(question: str, passages: list[str]) -> None:
    shares = code_shares(codes_in(question), passages)
    assert len(shares) == len(passages)
    assert all(0 <= share <= 1 + 1e-9 for share in shares)
    assert len(codes_in(question)) <= MOST


def test_the_passage_with_the_code_stands_above_those_that_only_sound_alike() -> None:
    others = [
        a_candidate(f"What a code means, part {n}", source_file=f"{n}.md", score=0.9)
        for n in range(9)
    ]
    table = a_candidate("| Dropped | stops, K44 |", source_file="table.md", score=0.5)
    question = "What does code K44 mean?"
    first, *_ = by_all_signals([*others, table], question=question, thread=None).placed({})
    assert first.candidate is table


def test_a_code_that_all_passages_have_tells_them_not_apart() -> None:
    shares = code_shares(["ros2", "k44"], ["ros2 a", "ros2 b", "ros2 k44", "ros2"])
    assert shares[2] == pytest.approx(0.5 + shares[0])
    assert shares[0] == shares[1] < 0.1


def test_a_number_that_is_an_error_is_a_code() -> None:
    assert codes_in("What does error 409 mean?") == ["409"]
    assert codes_in("the job ended with exit code 137") == ["137"]
    assert codes_in("409 people came") == []
    assert codes_in("errors 5.2 % of the time") == []


def test_a_code_may_be_a_word_and_a_number() -> None:
    assert codes_in("what does TP 507 mean") == ["tp-507"]
    assert codes_in("what does return code 252 mean") == ["252"]
    assert codes_in("the report of MAY 2024") == []
    assert codes_in("WHO IS IN ROOM 12") == []
