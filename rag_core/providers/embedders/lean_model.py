"""The local model's graph, with its table of words left as small as it is stored.

The file keeps its weights as bytes and makes floats of them when it is opened: that suits the
matrices, which every text needs whole, and makes of the table of words, of which a text needs a few
rows, a third of all the memory that is held. Here the rows are looked up first and made floats
then. The numbers that come of it are the same. A model is a message of Protocol Buffers; of its
many parts, three are written anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

TABLE = "inner.embeddings.word_embeddings.weight"
STORED, SCALE, AS_FLOATS = f"{TABLE}_q", f"{TABLE}_scale", f"{TABLE}_f"
ROWS, ROWS_STORED, ROWS_SCALE, ROWS_AS_FLOATS = "embedding", "rows_q", "rows_scale", "rows_f"
GRAPH = 7
"""The number of a model's part that is its graph."""
NODE = 1
"""Of a graph's parts that are steps of its work."""
INPUT, OUTPUT, NAME = 1, 2, 3
"""Of a step's parts: what it takes, what it makes, what it is called."""
NUMBER, BYTES = 0, 2
"""How a part is written."""


class Part(NamedTuple):
    """One part of a message: what it is, what it holds, and all of it as it is written."""

    number: int
    content: memoryview
    whole: memoryview


def with_lean_table(model: bytes) -> bytes:
    """The model whose words are looked up as they are stored."""
    return b"".join(
        written(GRAPH, lean_graph(part.content)) if part.number == GRAPH else part.whole
        for part in parts_of(memoryview(model))
    )


def lean_graph(graph: memoryview) -> bytes:
    parts = list(parts_of(graph))
    made_by = {output_of(part.content): part for part in parts if part.number == NODE}
    to_floats, scaling, looking_up = made_by[AS_FLOATS], made_by[TABLE], made_by[ROWS]
    anew = (
        rewired(looking_up, {TABLE: STORED, ROWS: ROWS_STORED}),
        rewired(looking_up, {TABLE: SCALE, ROWS: ROWS_SCALE}),
        rewired(to_floats, {STORED: ROWS_STORED, AS_FLOATS: ROWS_AS_FLOATS}),
        rewired(scaling, {AS_FLOATS: ROWS_AS_FLOATS, SCALE: ROWS_SCALE, TABLE: ROWS}),
    )
    gone = {to_floats.whole, scaling.whole}
    return b"".join(
        b"".join(anew) if part is looking_up else part.whole
        for part in parts
        if part.number != NODE or part.whole not in gone
    )


def output_of(node: memoryview) -> str:
    return next(str(part.content, "utf-8") for part in parts_of(node) if part.number == OUTPUT)


def rewired(node: Part, names: Mapping[str, str]) -> bytes:
    """A step that takes and makes what has these other names; its own name is left out."""
    return written(
        NODE,
        b"".join(
            written(part.number, renamed(part.content, names))
            if part.number in {INPUT, OUTPUT}
            else part.whole
            for part in parts_of(node.content)
            if part.number != NAME
        ),
    )


def renamed(name: memoryview, names: Mapping[str, str]) -> bytes:
    known = str(name, "utf-8")
    return names.get(known, known).encode()


def parts_of(message: memoryview) -> Iterator[Part]:
    """The parts of a message in order: numbers, and what has a length."""
    at = 0
    while at < len(message):
        start = at
        key, at = number_at(message, at)
        value, at = number_at(message, at)
        number, kind = key >> 3, key & 7
        if kind not in {NUMBER, BYTES}:
            raise ValueError(f"a model's graph has no parts of kind {kind}")
        end = at + value if kind == BYTES else at
        yield Part(number, message[at:end], message[start:end])
        at = end


def number_at(message: memoryview, at: int) -> tuple[int, int]:
    """A number, seven bits to a byte, and where it ends."""
    value = shift = 0
    while True:
        value |= (message[at] & 0x7F) << shift
        shift += 7
        at += 1
        if message[at - 1] < 0x80:
            return value, at


def written(number: int, content: bytes) -> bytes:
    """A part of a message as it is written."""
    return bytes([number << 3 | BYTES]) + number_written(len(content)) + content


def number_written(value: int) -> bytes:
    low = []
    while value >= 0x80:
        low.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*low, value])
