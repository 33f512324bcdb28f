"""Passages about the subject that do not hold the answer make less sure; good ones do not."""

from __future__ import annotations

import pytest

from rag_core.agent.checks.denial import asks_denied
from rag_core.agent.confidence.calibration import Calibration, EvidenceSignals, evidence_for
from rag_core.agent.confidence.inquiry import Inquiry
from rag_core.agent.confidence.near_miss import Signs, read_for
from rag_core.agent.confidence.profiles import CalibratedProfile
from tests.builders import a_result

OVEN = "The Marlin oven was delivered in 2019. It heats bread to 230 °C and never cools by itself."
BACKUP = "The database is backed up every night. Uploads are not backed up."


def signs(question: str, *texts: str, said: tuple[str, ...] = (), similarity: float = 0.8) -> Signs:
    found = [
        a_result(text, rank=n + 1, page_title="", section_heading="", similarity_score=similarity)
        for n, text in enumerate(texts)
    ]
    return read_for(Inquiry(text=question, said=said), found)


@pytest.mark.parametrize(
    "question",
    ["What does the Marlin oven not heat?", "Which oven was never delivered in 2019?",
     "In which year was the Marlin oven not delivered?"],
)  # fmt: skip
def test_who_asks_for_what_is_not_so_finds_nothing_in_what_is(question: str) -> None:
    assert signs(question, "The Marlin oven was delivered in 2019. It heats bread.").says_opposite


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is not backed up?", BACKUP),
        ("Which oven never cools by itself?", OVEN),
        ("What happens if the oven does not heat?", OVEN),
        ("Why does the Marlin oven not heat bread?", OVEN),
        ("How do I heat bread when the oven does not cool?", OVEN),
    ],
)
def test_a_denial_that_the_passage_shares_or_that_is_a_condition_is_none(
    question: str, text: str
) -> None:
    assert not signs(question, text).says_opposite


def test_a_word_that_stands_there_as_its_opposite_is_a_sign() -> None:
    text = "The first module is taught in summer. Attendance is optional."
    assert signs("What is the last module that is taught in summer?", text).says_opposite
    assert signs("Who taught the first module in winter?", text).says_opposite
    assert not signs("When is the first module taught?", text).says_opposite


def test_names_and_numbers_that_stand_elsewhere_are_counted() -> None:
    assert signs("When was the Marlin oven delivered?", OVEN).names_missing == 0
    assert signs("When was the Herring oven delivered in 1984?", OVEN).names_missing == 2


def test_the_rarest_word_that_is_missing_counts_by_its_rarity() -> None:
    assert signs("When was the oven delivered?", OVEN).rarest_missing == 0.0
    assert signs("When was the oven repaired?", OVEN).rarest_missing > 0.5


def test_pointing_at_what_nobody_named_is_a_sign() -> None:
    asked = "How long does this expedition take?"
    assert signs(asked, OVEN).points_nowhere
    assert not signs(asked, OVEN, said=("Tell me about the expedition.",)).points_nowhere
    assert not signs("What do I learn in this course?", OVEN).points_nowhere
    assert not signs("Which ovens that cool are there?", OVEN).points_nowhere


def test_no_passage_and_no_words_are_no_sign() -> None:
    assert signs("Why?", OVEN) == Signs()
    assert signs("When was the oven delivered?") == Signs()
    assert Signs().leave == 1.0


def test_signs_lower_the_confidence_but_never_refuse() -> None:
    calibration = Calibration.shipped()
    sure = EvidenceSignals(similarity=0.8, wording=0.9, coverage=1.0)
    plain = calibration.probability(sure)
    for leave in (0.7, 0.3, 0.01):
        less = calibration.probability(
            EvidenceSignals(similarity=0.8, wording=0.9, coverage=1.0, leave=leave)
        )
        assert calibration.low <= less < plain
        plain = less


def test_weak_evidence_is_not_made_stronger_by_a_sign() -> None:
    calibration = Calibration.shipped()
    weak = {"similarity": 0.1, "wording": 0.1, "coverage": 0.1}
    assert calibration.probability(EvidenceSignals(**weak, leave=0.1)) == calibration.probability(
        EvidenceSignals(**weak)
    )


def test_a_follow_up_is_judged_in_its_best_form() -> None:
    found = [a_result(OVEN, similarity_score=0.6)]
    alone = evidence_for(Inquiry(text="And its temperature?"), found)
    understood = evidence_for(
        Inquiry(text="And its heat?", understood="What is the Marlin oven? And its heat?"), found
    )
    assert understood.coverage > alone.coverage
    _, sure = CalibratedProfile(Calibration.shipped()).judge(Inquiry(text="oven"), found)
    assert 0.0 < sure < 1.0


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("How much does the Marlin oven cost?", True),
        ("What is the telephone number of the baker?", True),
        ("What is the e-mail address of the baker?", True),
        ("How much heat does the Marlin oven give?", False),
        ("What is the number of the oven?", False),
    ],
)
def test_what_is_known_by_its_form_must_stand_there_in_that_form(
    question: str, missing: bool
) -> None:
    assert signs(question, OVEN).form_missing is missing
    told = OVEN + " It costs 900 euros, bakers call +49 30 1234567 or write to oven@marlin.example."
    assert signs(question, told).form_missing is False


def test_what_the_passages_refute_is_refused_and_a_refusal_keeps_the_order() -> None:
    calibration = Calibration.shipped()
    sure = EvidenceSignals(similarity=0.9, wording=0.9, coverage=1.0, leave=0.125, refuted=True)
    weak = EvidenceSignals(similarity=0.1, wording=0.1, coverage=0.1, leave=0.125, refuted=True)
    assert calibration.probability(weak) < calibration.probability(sure) < calibration.low


@pytest.mark.parametrize(
    ("question", "is_one"),
    [
        ("Can the oven bake bread?", True),
        ("And is it hot?", True),
        ("Doesn't the oven have a door?", True),
        ("Can you explain the oven?", False),
        ("How hot is the oven?", False),
    ],
)
def test_a_question_for_yes_or_no_leaves_half(question: str, is_one: bool) -> None:
    assert signs(question, OVEN).asks_whether is is_one


def test_an_examiner_who_asks_what_is_not_so_is_no_sign() -> None:
    assert not asks_denied("Which one of these is NOT a type of oven?")
    assert asks_denied("Which ovens were not delivered?")


def test_may_or_may_not_asks_for_both() -> None:
    assert not asks_denied("How powerful may or may not a machine be?")
    assert not asks_denied("Which of the pages is or is not backed up?")
    assert asks_denied("What is never backed up?")


def test_another_thing_of_the_same_name_is_a_sign() -> None:
    text = "Report a lost library card at once, by phone or at any desk."
    assert signs("I lost my credit card, where do I report it?", text).other_kind
    assert not signs("Where do I report a lost library card?", text).other_kind
    assert not signs("Where do I report a lost card?", text).other_kind


def test_a_place_that_shares_only_what_every_page_has_answers_nothing() -> None:
    pages = [
        f"The kitchen was {done} in 19{year}. The kitchen stands at the {place}."
        for done, year, place in (
            ("opened", 31, "market"), ("moved", 46, "harbour"), ("painted", 58, "park"),
            ("sold", 71, "bridge"), ("closed", 98, "mill"),
        )
    ]  # fmt: skip
    assert signs("May zebras gallop through the kitchen?", *pages, similarity=0.3).refutes
    assert not signs("May zebras gallop through the kitchen?", *pages, similarity=0.6).refutes
    assert not signs("When was the kitchen painted?", *pages, similarity=0.3).refutes


RETRIES = "Requests are retried. There are 3 attempts unless max_attempts says otherwise."


@pytest.mark.parametrize(
    ("question", "refuted"),
    [
        ("What is the default of max_retries?", True),
        ("What is the default of max_attempts?", False),
        ("How do max_retries and max_attempts differ?", False),
        ("How many attempts are there by 10am?", False),
    ],
)
def test_who_asks_about_a_code_that_stands_nowhere_finds_nothing(
    question: str, refuted: bool
) -> None:
    found = [a_result(RETRIES, page_title="", section_heading="", similarity_score=0.8)]
    assert evidence_for(Inquiry(text=question), found).refuted is refuted


def test_a_hurried_question_for_what_is_not_so_is_one() -> None:
    assert asks_denied("which settings dont need a restart")
    assert asks_denied("what isnt backed up")
    assert not asks_denied("what is the font of the page")
