"""The trained reader tells the section that answers from those that only look as if."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rag_core.errors import ConfigurationError
from rag_core.providers.local.joint_reader import WEIGHTS, JointReader, open_joint_reader
from rag_core.reading.units import SectionUnits

ASKED = "How many files may I upload in a day?"
ANSWERS = "Every member may upload ten files a day. Larger plans have no such limit."
NEAR = "Files are stored in the archive for a year. An owner may delete them at any time."
FAR = "Basil stirs the soup with his left arm and never leaves the kitchen."


@pytest.fixture
async def reader() -> AsyncIterator[JointReader]:
    async with open_joint_reader() as opened:
        yield opened


async def test_the_section_that_answers_is_told_from_others(reader: JointReader) -> None:
    texts = [FAR, NEAR, ANSWERS]
    readings = await reader.read(ASKED, [SectionUnits(text, title="Handbook") for text in texts])
    answered = [each.answered for each in readings]
    assert answered == sorted(answered)
    assert max(range(3), key=lambda at: readings[at].relevance) == 2


async def test_the_search_s_score_counts_beside_what_was_read(reader: JointReader) -> None:
    (low, high) = await reader.read(
        ASKED, [SectionUnits(ANSWERS, score=1.0), SectionUnits(ANSWERS, score=2.0)]
    )
    assert high.relevance == pytest.approx(low.relevance + 1.0)
    assert high.answered == low.answered


async def test_an_answer_below_what_is_read_at_once_is_found(reader: JointReader) -> None:
    filler = "The archive is a quiet place where nobody works after six. " * 22
    (with_it, without) = await reader.read(
        ASKED, [SectionUnits(f"{filler}\n\n{ANSWERS}"), SectionUnits(filler)]
    )
    assert with_it.answered > without.answered + 1.0


@pytest.mark.parametrize("text", ["", " ", "\ud800", "[x](", "```", "a" * 20_000])
@pytest.mark.parametrize("question", ["?", "\ud800", "why " * 300])
async def test_whatever_stands_there_is_read(text: str, question: str, reader: JointReader) -> None:
    (reading,) = await reader.read(question, [SectionUnits(text)])
    assert reading.answered == reading.answered  # a number
    assert len(reading.units) == len(SectionUnits(text).units)


async def test_several_questions_at_once_are_read_alike(reader: JointReader) -> None:
    sections = [SectionUnits(text) for text in (FAR, NEAR, ANSWERS)]
    alone = await reader.read(ASKED, sections)
    together = await asyncio.gather(*(reader.read(ASKED, sections) for _ in range(4)))
    assert all(each == alone for each in together)


async def test_other_weights_are_refused(tmp_path: Path) -> None:
    changed = tmp_path / "reader.hmsemb"
    changed.write_bytes(WEIGHTS.read_bytes()[:-4] + b"\0\0\0\1")
    with (
        ThreadPoolExecutor(1) as threads,
        pytest.raises(ConfigurationError, match="not the expected ones"),
    ):
        await JointReader(threads, weights=changed).read(ASKED, [SectionUnits(ANSWERS)])
