"""Cuts one block that is far too large, so that each piece still reads as what it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from rag_core.ingestion.blocks import Block, Kind

Measure = Callable[[str], int]

LINK = re.compile(
    r"!?\[(?:[^\[\]]|!?\[[^\[\]]{0,500}\](?:\([^()\s]{0,2000}\))?){0,500}?\]"
    r"\((?:[^()\s]|\([^()\s]{0,500}\)){1,4000}(?:[ \t]+[\"'][^\"'\n]{0,300}[\"'])?\)"
)
"""A link or an image, its words on several lines perhaps: never cut in two."""
BOUND_SPACE = "\ue003"
"""Stands for the white space in a link while the text around it is cut."""
SENTENCE_END = re.compile(r"(?<=[.!?。！？])[\"')\]]*\s+")
LONGEST_WORD = 200
"""Characters of one unbroken run: what is longer is data, and cut anywhere."""


def split_block(block: Block, target: int, measure: Measure) -> Iterator[Block]:
    """Pieces of about the target: code keeps its fences and a table its head in each."""
    is_code = block.kind is Kind.CODE
    lines = (block.text if is_code else with_bound_links(block.text)).split("\n")
    before: list[str] = []
    after: list[str] = []
    if is_code and len(lines) > 2:
        before, lines = lines[:1], lines[1:]
        if lines[-1].strip().startswith(before[0].strip()[:3]):
            after, lines = lines[-1:], lines[:-1]
        else:
            after = [before[0].strip()[:3]]
    elif block.kind is Kind.TABLE and len(lines) > 2:
        before, lines = lines[:2], lines[2:]
    frame = measure("\n".join([*before, *after])) if before else 0
    room = max(target - frame, target // 4)
    for number, piece in enumerate(grouped(atoms(lines, room, measure), room, measure)):
        text = "\n".join([*before, piece, *after])
        text = text if is_code else text.replace(BOUND_SPACE, " ")
        yield Block(block.kind, text, block.gap if number == 0 else 1)


def with_bound_links(text: str) -> str:
    """The text with each link as one word, which nothing cuts."""
    if "](" not in text:
        return text
    return LINK.sub(lambda link: re.sub(r"\s+", BOUND_SPACE, link[0]), text)


def atoms(lines: Iterable[str], room: int, measure: Measure) -> Iterator[tuple[str, str]]:
    """The smallest pieces that are kept whole, each with what joins it to the one before."""
    for line in lines:
        if measure(line) <= room:
            yield "\n", line
            continue
        joint = "\n"
        for sentence in sentences(line):
            whole = [sentence] if measure(sentence) <= room else words(sentence)
            for piece in whole:
                yield joint, piece
                joint = " "


def sentences(line: str) -> Iterator[str]:
    cuts = [0, *(match.end() for match in SENTENCE_END.finditer(line)), len(line)]
    for start, end in pairwise(cuts):
        if line[start:end].strip():
            yield line[start:end].rstrip()


def words(sentence: str) -> Iterator[str]:
    for word in sentence.split():
        yield from linked_runs(word) if "](" in word else short_runs(word)


def linked_runs(word: str) -> Iterator[str]:
    """A word in runs, each link whole, with the few signs before it and behind the last one."""
    start = 0
    for link in LINK.finditer(word):
        *runs, before = ["", *short_runs(word[start : link.start()])]
        yield from filter(None, runs)
        start = link.end()
        is_last = len(word) - start <= LONGEST_WORD and "](" not in word[start:]
        after = word[start:] if is_last else ""
        start += len(after)
        yield f"{before}{link[0]}{after}"
    yield from short_runs(word[start:])


def short_runs(run: str) -> Iterator[str]:
    for start in range(0, len(run), LONGEST_WORD):
        yield run[start : start + LONGEST_WORD]


def grouped(pieces: Iterable[tuple[str, str]], room: int, measure: Measure) -> Iterator[str]:
    """Neighbouring pieces together: all of them, or each half for itself, until there is room.

    Which ones are together hangs on their number alone: what is written anew in one of them moves
    nothing between the others."""
    row = [(joint, piece, measure(piece)) for joint, piece in pieces]
    for some in halved(row, room):
        text = "".join(f"{joint}{piece}" for joint, piece, _ in some)[len(some[0][0]) :]
        if text.strip():
            yield text


def halved(row: list[tuple[str, str, int]], room: int) -> Iterator[list[tuple[str, str, int]]]:
    if not row or len(row) == 1 or sum(size for _, _, size in row) <= room:
        yield from [row] if row else []
        return
    middle = (len(row) + 1) // 2
    yield from halved(row[:middle], room)
    yield from halved(row[middle:], room)
