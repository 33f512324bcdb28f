"""What the indexes keep of a passage comes back as it was."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import to_json

from rag_core.ingestion.documents import EmbeddedChunk
from rag_core.providers.index.payload import (
    AT_HAND,
    OTHERS,
    candidates,
    fields_aside,
    narrow_fields,
    opened,
    packed_of,
    payload_of,
    result_of,
    unpacked,
)
from rag_core.retrieval.scoring import Ranked
from tests.shelf_builders import file_chunks, long_text

NAMES = st.text(alphabet='a{["\\\n\r\t\u2028›é', max_size=8)
PASSAGE = file_chunks([long_text("a wheel")], file="wheels.md")[0]


def passage(file: str, breadcrumb: str, text: str) -> EmbeddedChunk:
    metadata = replace(PASSAGE.chunk.metadata, source_file=file, breadcrumb=breadcrumb)
    return replace(PASSAGE, chunk=replace(PASSAGE.chunk, text=text, metadata=metadata))


@given(NAMES, NAMES, NAMES)
def test_a_passage_is_taken_apart_in_two_steps_whatever_signs_are_in_it(
    file: str, breadcrumb: str, text: str
) -> None:
    embedded = passage(file, breadcrumb, f"{text} ten letters at least {text}")
    at_hand = opened(packed_of(embedded))
    assert (at_hand["source_file"], at_hand["breadcrumb"]) == (file, breadcrumb)
    assert at_hand["kind"] == "text"
    assert at_hand["text"] == embedded.chunk.text
    assert unpacked(at_hand) == payload_of(embedded)


def test_a_passage_that_was_kept_in_one_line_is_still_read() -> None:
    embedded = passage("wheels.md", "Wheels › Spokes", "A wheel has spokes.\n\nAnd a hub.")
    line = to_json(fields_aside(embedded)).decode()
    kept = narrow_fields(embedded) | {OTHERS: f"{line}\n{embedded.chunk.text}"}
    assert unpacked(opened(kept)) == payload_of(embedded)


def test_a_passage_that_was_kept_before_passages_had_kinds_is_still_read() -> None:
    embedded = passage("wheels.md", "Wheels › Spokes", "A wheel has spokes.\n\nAnd a hub.")
    others = fields_aside(embedded)
    assert others.pop("kind") == "text"
    at_hand = to_json([others.pop(name) for name in AT_HAND if name != "kind"]).decode()
    packed = f"{at_hand}\n{to_json(others).decode()}\n{embedded.chunk.text}"
    read = opened(narrow_fields(embedded) | {OTHERS: packed})
    assert unpacked(read) | {"kind": "text"} == payload_of(embedded)
    (candidate,) = candidates(Ranked([1], [0.5], [0.5]), {1: read}, 1)
    assert candidate.kind == "text"


def test_what_kind_a_passage_is_stands_in_its_result() -> None:
    asked = replace(PASSAGE.chunk.metadata, kind="exercise")
    embedded = replace(PASSAGE, chunk=replace(PASSAGE.chunk, metadata=asked))
    stored = unpacked(opened(packed_of(embedded)))
    assert result_of(stored, similarity=0.5, rank=1, rank_score=1.0).metadata["kind"] == "exercise"
    (candidate,) = candidates(Ranked([1], [0.5], [0.5]), {1: payload_of(embedded)}, 1)
    assert candidate.kind == "exercise"
