"""What the indexes keep of a passage comes back as it was."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import to_json

from rag_core.ingestion.documents import EmbeddedChunk
from rag_core.providers.index.payload import (
    OTHERS,
    fields_aside,
    narrow_fields,
    opened,
    packed_of,
    payload_of,
    unpacked,
)
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
    assert at_hand["text"] == embedded.chunk.text
    assert unpacked(at_hand) == payload_of(embedded)


def test_a_passage_that_was_kept_in_one_line_is_still_read() -> None:
    embedded = passage("wheels.md", "Wheels › Spokes", "A wheel has spokes.\n\nAnd a hub.")
    line = to_json(fields_aside(embedded)).decode()
    kept = narrow_fields(embedded) | {OTHERS: f"{line}\n{embedded.chunk.text}"}
    assert unpacked(opened(kept)) == payload_of(embedded)
