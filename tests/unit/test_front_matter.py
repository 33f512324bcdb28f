"""Front matter: what is read the quick way says what YAML says."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from rag_core.ingestion.front_matter import plain_fields, split_front_matter

NAMES = st.sampled_from(["title", "Module", "sidebar_label", "on", "null", "y"])
VALUES = st.one_of(
    st.text("abcxyzNO0123456789 .,:#-_/()'\"&*!%@`[]{}|>~=+", max_size=20),
    st.sampled_from(["yes", "No", "null", "~", "1e3", "inf", ".inf", "nan", "2026-01-01", "True"]),
)


@given(st.lists(st.tuples(NAMES, VALUES), max_size=5))
def test_the_quick_way_never_differs_from_yaml(fields: list[tuple[str, str]]) -> None:
    block = "".join(f"{name}: {value}\n" for name, value in fields)
    plain = plain_fields(block)
    if plain is not None:
        assert plain == (yaml.safe_load(block) or {})


@pytest.mark.parametrize(
    "block", ["title: Gears and belts\nslug: gears/belts\n", "title: Page 12, in part\n"]
)
def test_usual_settings_go_the_quick_way(block: str) -> None:
    assert plain_fields(block) == yaml.safe_load(block)


@pytest.mark.parametrize("block", ["draft: true\n", "lesson: 3\n", "title: a: b\n", "a: b # c\n"])
def test_what_is_no_plain_text_is_left_to_yaml(block: str) -> None:
    assert plain_fields(block) is None
    fields, text, _ = split_front_matter(f"---\n{block}---\nText.\n")
    assert text == "Text.\n"
    assert fields == {"draft": True} or fields == {"lesson": 3} or fields in ({}, {"a": "b"})
