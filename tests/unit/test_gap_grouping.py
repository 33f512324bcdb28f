"""Questions in vain come together by topic, in fields that have little to do with each other."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from rag_core.insight.gaps import bare, meanings, terms
from rag_core.insight.grouping import Worded, closeness, grouped
from rag_core.providers.embedders.local import LocalEmbedder, open_local_embedder

DATA = Path(__file__).parents[1] / "data" / "gaps"
FIELDS = {
    "handbook": (12, 0),
    "robotics": (12, 0),
    "software": (12, 0),
    "museum": (12, 0),
    "pipelines": (12, 0),
    "library": (11, 2),
    "payroll": (10, 1),
    "chemistry": (10, 1),
    "programming": (12, 0),
    "algebra": (8, 4),
    "gym": (10, 1),
    "boards": (9, 2),
    "phone": (7, 3),
    "sailing": (6, 4),
    "nursery": (8, 2),
    "instruments": (6, 3),
    "personnel": (4, 3),
    "kitchen": (5, 8),
    "camping": (3, 6),
    "orchestra": (7, 2),
    "bicycles": (6, 2),
    "insurance": (5, 4),
    "clinic": (9, 2),
    "university": (3, 9),
}
"""How many topics are found at least, and how many groups are wrong at most. In the last two every
fifth question is nobody else's. What borders on everything there, as fees of a university or
damage and theft of an insurance do, comes apart worst."""
FULL = os.environ.get("FOOTNOTE_TESTS") == "full"
TRIED = FIELDS if FULL else ("museum", "payroll", "library", "clinic")
ALL = (199, 59) if FULL else (42, 4)
"""The same of all that are tried: no field is bought with another."""
ALONE = "-"
"""Questions of a field that nobody else asked."""
FEW = 3
"""Of fewer questions nobody would say that they are a topic."""


@dataclass(frozen=True)
class Judged:
    """What was found of the topics that there are."""

    found: int
    wrong: int


@pytest.fixture
async def embedder() -> AsyncIterator[LocalEmbedder]:
    async with open_local_embedder() as opened:
        yield opened


def topics(field: str) -> list[tuple[str, str]]:
    """Each question with its topic."""
    told = json.loads((DATA / f"{field}.json").read_text(encoding="utf-8"))
    alone = told.pop(ALONE, [])
    asked = [(question, topic) for topic, questions in told.items() for question in questions]
    return asked + [(question, f"{ALONE}{number}") for number, question in enumerate(alone)]


async def worded(embedder: LocalEmbedder, questions: Sequence[str]) -> list[Worded]:
    vectors = await meanings(embedder, questions)
    return [
        Worded(vector=vector, terms=terms(question))
        for question, vector in zip(questions, vectors, strict=True)
    ]


def judged(groups: Sequence[Sequence[int]], labels: Sequence[str]) -> Judged:
    """A topic is found by the group that holds most of it; a group is wrong that is mixed, or
    that tells a topic once more, or is made of questions that have nothing in common."""
    there = Counter(labels)
    found: set[str] = set()
    wrong = 0
    for group in sorted(groups, key=len, reverse=True):
        topic, most = Counter(labels[place] for place in group).most_common(1)[0]
        if len(group) < FEW:
            continue
        if most < 0.8 * len(group) or topic in found or topic.startswith(ALONE):
            wrong += 1
        elif most >= there[topic] / 2:
            found.add(topic)
    return Judged(found=len(found), wrong=wrong)


async def tried(field: str, embedder: LocalEmbedder) -> Judged:
    asked = topics(field)
    random.Random(11).shuffle(asked)
    questions, labels = zip(*asked, strict=True)
    assert len({label for label in labels if not label.startswith(ALONE)}) == 12
    return judged(grouped(await worded(embedder, questions)), labels)


@pytest.mark.parametrize(("field", "found", "wrong"), [(f, *FIELDS[f]) for f in TRIED])
async def test_twelve_missing_topics_are_found(
    field: str, found: int, wrong: int, embedder: LocalEmbedder
) -> None:
    result = await tried(field, embedder)
    assert result.found >= found, result
    assert result.wrong <= wrong, result


async def test_over_all_fields_most_topics_are_found(embedder: LocalEmbedder) -> None:
    results = [await tried(field, embedder) for field in TRIED]
    found, wrong = ALL
    assert sum(result.found for result in results) >= found, results
    assert sum(result.wrong for result in results) <= wrong, results


async def test_the_order_of_asking_decides_nothing(embedder: LocalEmbedder) -> None:
    questions = [question for question, _ in topics("museum")[:60]]
    mixed = questions.copy()
    random.Random(3).shuffle(mixed)
    first = grouped(await worded(embedder, questions))
    second = grouped(await worded(embedder, mixed))
    assert {frozenset(questions[place] for place in group) for group in first} == {
        frozenset(mixed[place] for place in group) for group in second
    }


@pytest.mark.parametrize("field", ["robotics", "museum", "payroll"])
async def test_three_topics_are_told_apart_when_eighteen_have_asked(
    field: str, embedder: LocalEmbedder
) -> None:
    asked: dict[str, list[str]] = {}
    for question, topic in topics(field):
        asked.setdefault(topic, []).append(question)
    few = [(question, topic) for topic in list(asked)[:3] for question in asked[topic][:6]]
    questions, labels = zip(*few, strict=True)
    assert judged(grouped(await worded(embedder, questions)), labels) == Judged(found=3, wrong=0)


async def test_a_lone_question_is_a_group_and_none_are_none(embedder: LocalEmbedder) -> None:
    assert grouped([]) == []
    assert grouped(await worded(embedder, ["Where can I park?"])) == [(0,)]


async def test_a_topic_alone_is_one_group(embedder: LocalEmbedder) -> None:
    questions = [question for question, topic in topics("museum") if topic == "birthday parties"]
    (largest, *others) = sorted(grouped(await worded(embedder, questions)), key=len, reverse=True)
    assert len(largest) >= 0.8 * len(questions), others


async def test_judged_groups_grow_and_never_become_one(embedder: LocalEmbedder) -> None:
    questions = await worded(
        embedder, ["Where can I park?", "parking space", "Is there a car park?", "parking permit"]
    )
    assert grouped(questions) == [(0, 1, 2, 3)]
    apart = grouped(questions, judged=[(0,), (3,)])
    assert len(apart) == 2
    assert {0, 3} & set(apart[0]) != {0, 3}


async def test_the_middle_of_a_group_is_what_most_of_it_asks(embedder: LocalEmbedder) -> None:
    near = closeness(
        await worded(
            embedder,
            ["How do I get a parking space?", "parking space", "Is my motorbike insured there?"],
        )
    )
    assert near.index(min(near)) == 2


def test_a_question_of_small_words_alone_is_embedded_as_it_is() -> None:
    assert bare("What is it?") == "What is it?"
    assert bare("How do I get a parking space?") == "parking space"
    assert terms("What is it?") == ()
