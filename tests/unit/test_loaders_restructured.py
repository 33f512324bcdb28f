"""reStructuredText and notebooks are read with what they hold, and without what runs them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from textwrap import dedent
from typing import Any

import pytest

from rag_core.errors import IngestionError
from rag_core.ingestion.loaders import Loader


@pytest.fixture(scope="module")
def loader() -> Iterator[Loader]:
    with Loader() as opened:
        yield opened


@pytest.mark.parametrize(
    ("rst", "markdown"),
    [
        ("Top\n===\n\nA *b* **c** ``d``.\n\nPart\n----\n\nText.",
         "# Top {#top}\n\nA b c `d`.\n\n## Part {#part}\n\nText."),
        (".. code-block:: python\n   :linenos:\n\n   x = 1", "```python\nx = 1\n```"),
        ("So::\n\n   x = 1", "So:\n\n```\nx = 1\n```"),
        ("=== ===\nA   B\n=== ===\n1   2\n=== ===", "| A | B |\n| --- | --- |\n| 1 | 2 |"),
        (".. list-table::\n   :header-rows: 1\n\n   * - A\n     - B\n   * - 1\n     - 2",
         "| A | B |\n| --- | --- |\n| 1 | 2 |"),
        (".. note:: Rest.", "Note\n\nRest."),
        (".. versionadded:: 3.2\n   Rest.", "New in version 3.2: Rest."),
        ("`Out <https://x.example/>`_ and in_.\n\n.. _in: https://y.example/",
         "[Out](https://x.example/) and [in](https://y.example/)."),
        (":ref:`The hours <hours>`, :py:func:`~a.b.run`, :doc:`/x`, :unknown:`y`",
         "The hours, `run`, /x, `y`"),
        (".. py:function:: run(a) -> int\n\n   Runs it.", "`run(a) -> int`\n\nRuns it."),
        (".. tab-set::\n\n   .. tab-item:: Linux\n      :sync: l\n\n      Use apt.",
         "Linux\n\nUse apt."),
        (".. toctree::\n   :maxdepth: 2\n\n   a\n   b\n\nText.", "Text."),
        ("- a\n\n  - b\n\n- c", "- a\n  - b\n- c"),
        ("|it| is\n\n.. |it| replace:: This", "This is"),
        ("Broken ``code and\n\n===\nText", "Broken ``code and"),
    ],
)  # fmt: skip
def test_restructured_text_is_written_as_markdown(loader: Loader, rst: str, markdown: str) -> None:
    assert loader.load("a.rst", rst.encode()).text.startswith(markdown)


@pytest.mark.parametrize(
    "rst",
    [
        ".. include:: {secret}",
        ".. literalinclude:: {secret}",
        ".. raw:: html\n   :file: {secret}",
        ".. csv-table::\n   :file: {secret}",
        ".. raw:: html\n\n   <b>key</b>",
    ],
)
def test_nothing_is_read_from_other_files(loader: Loader, rst: str, tmp_path: Any) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("key")
    text = loader.load("a.rst", f"Before.\n\n{rst.format(secret=secret)}\n".encode()).text
    assert "Before." in text
    assert "key" not in text


def notebook(*cells: dict[str, Any], **more: Any) -> bytes:
    return json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5} | more).encode()


def test_a_notebook_is_its_text_its_code_and_short_outputs(loader: Loader) -> None:
    content = notebook(
        {"cell_type": "markdown", "source": ["# Robots\n", "\n", "They <b>move</b>."]},
        {"cell_type": "code", "source": "print(1)", "outputs": [
            {"output_type": "stream", "text": ["1\n"]},
            {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo="}},
        ]},
        {"cell_type": "code", "source": "rows()", "outputs": [
            {"output_type": "execute_result", "data": {"text/plain": ["row\n"] * 50}},
            {"output_type": "error", "traceback": ["a", "b"]},
        ]},
        {"cell_type": "raw", "source": "raw"},
        {"cell_type": "code", "source": ""},
        metadata={"kernelspec": {"language": "julia"}},
    )  # fmt: skip
    assert loader.load("a.ipynb", content).text == dedent(
        """\
        # Robots

        They move.

        ```julia
        print(1)
        ```

        ```text
        1
        ```

        ```julia
        rows()
        ```"""
    )


def test_an_old_notebook_is_read_too(loader: Loader) -> None:
    cells = [{"cell_type": "heading", "level": 2, "source": "Robots"},
             {"cell_type": "code", "input": "go()"}]  # fmt: skip
    content = json.dumps({"worksheets": [{"cells": cells}], "nbformat": 3}).encode()
    assert loader.load("a.ipynb", content).text == "## Robots\n\n```python\ngo()\n```"


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b'{"cells": 1}', b"[" * 99_999, b"nonsense"]
)
def test_what_is_no_notebook_is_refused(loader: Loader, content: bytes) -> None:
    with pytest.raises(IngestionError, match=r"notebook|nested"):
        loader.load("a.ipynb", content)


@pytest.mark.parametrize(
    "cells",
    [
        [1, None, "x"],
        [{"cell_type": 1, "source": {"a": 1}}],
        [{"cell_type": "code", "source": [1, "x"], "outputs": {"a": 1}}],
        [{"cell_type": "code", "source": "x", "outputs": [1, {"data": 1}, {"text": {"a": 1}}]}],
    ],
)
def test_odd_cells_are_passed_over(loader: Loader, cells: list[Any]) -> None:
    content = json.dumps({"cells": cells, "metadata": 7}).encode()
    assert loader.load("a.ipynb", content).text in {"", "```python\nx\n```"}


def test_halves_of_characters_do_not_leave_the_reader(loader: Loader) -> None:
    content = b'{"cells": [{"cell_type": "markdown", "source": "a\\ud800b\\u0000c"}]}'
    assert loader.load("a.ipynb", content).text == "a?bc"
