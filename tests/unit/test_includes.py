"""Pages hold what they include from other files of their folder, and nothing from outside of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rag_core.ingestion.loaders import load, read_source
from rag_core.ingestion.sources import SourceFile
from tests.shelf_builders import write_files


def read(root: Path, page: str = "docs/page.md", *, source: Path | None = None) -> str:
    """A page's text as it is cut, with what it includes."""
    file = SourceFile(source=str(source or root), path=root / page, source_file=page)
    return load(page, read_source(file)).text.strip()


CODE = "import os\n# ANCHOR: run\nprint(1)\nprint(2)\n# ANCHOR_END: run\n"
FILES = {
    "listings/a.py": CODE,
    "docs/rules.md": "---\ntitle: Rules\n---\nTen a day.\n",
    "_includes/limit.md": "Ten {{ include.what }} a day.\n",
    "content/includes/note.md": "Ask first.\n",
    "data/variables/product.yml": "name: Basil\nfull: '{% data variables.product.name %} Arm'\n",
    "data/reusables/steps/open.md": "Open **Settings**.\n",
    "_data/prices.yml": "arm:\n  price: 90 euros\n",
    "_config.yml": "version: 4.2\n",
    "hugo.yaml": "params:\n  engine: '27.1'\n",
}


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("```python\n{{#include ../listings/a.py:run}}\n```", "```python\nprint(1)\nprint(2)\n```"),
        ("```python\n{{#rustdoc_include ../listings/a.py:3:3}}\n```", "```python\nprint(1)\n```"),
        ("```python\n{!> ../listings/a.py!}\n```",
         "```python\nimport os\nprint(1)\nprint(2)\n```"),
        ("{* ../listings/a.py ln[3:4] hl[3] *}", "```python\nprint(1)\nprint(2)\n```"),
        ('--8<-- "rules.md"', "Ten a day."),
        ("--8<--\nrules.md\n--8<--", "Ten a day."),
        ("{!rules.md!}", "Ten a day."),
        ("```{include} rules.md\n```", "Ten a day."),
        ("1. One\n\n   {!rules.md!}\n\n2. Two", "1. One\n\n   Ten a day.\n\n2. Two"),
        ('{% include limit.md what="questions" %}', "Ten questions a day."),
        ('{{% include "note.md" %}}', "Ask first."),
        ("The {% data variables.product.full %} moves.", "The Basil Arm moves."),
        ("1. {% data reusables.steps.open %}", "1. Open **Settings**."),
        ("It costs {{ site.data.prices.arm.price }}.", "It costs 90 euros."),
        ("It costs {{ prices.arm.price | escape }}.", "It costs 90 euros."),
        ("Version {{ site.version }} and {{< param engine >}}.", "Version 4.2 and 27.1."),
    ],
)  # fmt: skip
def test_a_page_has_what_it_includes(tmp_path: Path, written: str, shown: str) -> None:
    write_files(tmp_path, {**FILES, "docs/page.md": f"{written}\n"})
    assert read(tmp_path) == shown


def test_a_title_has_the_values_of_the_site(tmp_path: Path) -> None:
    page = "---\ntitle: About {% data variables.product.name %}\n---\nTen a day.\n"
    write_files(tmp_path, {**FILES, "docs/page.md": page})
    file = SourceFile(source=str(tmp_path), path=tmp_path / "docs/page.md", source_file="page.md")
    assert load("page.md", read_source(file)).fields["title"] == "About Basil"


@pytest.mark.parametrize(
    "text",
    [
        "`{{#include rules.md}}`",
        '```md\n--8<-- "rules.md"\n```',
        "{% raw %}`{% include limit.md %}`{% endraw %}",
        "```yaml\nrun: ${{ site.version }}\n```",
    ],
)
def test_marks_that_are_shown_are_not_carried_out(tmp_path: Path, text: str) -> None:
    write_files(tmp_path, {**FILES, "docs/page.md": text})
    shown = read(tmp_path)
    assert "Ten" not in shown
    assert shown == text.removeprefix("{% raw %}").removesuffix("{% endraw %}")


INCLUDES = ["{{!{0}!}}", '--8<-- "{0}"', '{{% include "{0}" %}}', "{{* {0} *}}"]


@pytest.mark.parametrize("mark", INCLUDES)
@pytest.mark.parametrize(
    "path",
    [
        "../../outside/secret.md",
        "../../../../../../../../etc/hostname",
        "/etc/hostname",
        "link.md",
        "linked/secret.md",
        ".hidden.md",
        ".git/config",
        "../docs/./.hidden.md",
        "pipe.md",
        "binary.md",
        "large.md",
        "folder",
        "x" * 5_000,
    ],
)
def test_nothing_from_outside_or_hidden_is_included(tmp_path: Path, mark: str, path: str) -> None:
    root = tmp_path / "inside"
    secret = "The secret is 4711."
    write_files(tmp_path, {"outside/secret.md": secret})
    write_files(
        root,
        {
            "docs/.hidden.md": secret,
            "docs/.git/config": secret,
            "docs/folder/a.md": secret,
            "docs/large.md": secret + "x" * 400_000,
            "docs/page.md": f"Before.\n\n{mark.format(path)}\n\nAfter.\n",
        },
    )
    (root / "docs/binary.md").write_bytes(f"{secret}\0".encode())
    (root / "docs/link.md").symlink_to(tmp_path / "outside/secret.md")
    (root / "docs/linked").symlink_to(tmp_path / "outside")
    os.mkfifo(root / "docs/pipe.md")
    shown = read(root)
    assert "4711" not in shown
    assert shown.startswith("Before.")
    assert shown.endswith("After.")


def test_a_file_that_is_read_alone_includes_nothing(tmp_path: Path) -> None:
    write_files(tmp_path, {"page.md": "Before.\n\n{!secret.md!}", "secret.md": "4711"})
    assert read(tmp_path, "page.md", source=tmp_path / "page.md") == "Before."


def test_texts_that_include_each_other_come_to_an_end(tmp_path: Path) -> None:
    many = "\n\n".join(["{!page.md!}", "{!b.md!}"] * 20)
    write_files(tmp_path, {"page.md": f"One.\n\n{many}", "b.md": f"Two.\n\n{many}"})
    shown = read(tmp_path, "page.md")
    assert shown.startswith("One.")
    assert len(shown) < 1_000_000
    assert "{!" not in shown


def test_a_page_takes_over_no_more_than_its_bound(tmp_path: Path) -> None:
    marks = "\n\n".join(["{!big.md!}"] * 100)
    write_files(tmp_path, {"page.md": f"One.\n\n{marks}", "big.md": "word " * 20_000})
    assert len(read(tmp_path, "page.md")) <= 600_000


@pytest.mark.parametrize(
    "values",
    ["a: [" * 30_000, "a: &a [x]\nb: [*a, *a]\nname: Basil", "{" * 100_000, "a: b: c:", "- x"],
)
def test_values_that_are_damaged_or_slow_are_not_known(tmp_path: Path, values: str) -> None:
    page = "The {% data variables.product.name %} moves."
    write_files(tmp_path, {"data/variables/product.yml": values, "docs/page.md": page})
    assert read(tmp_path) == "The moves."


def test_a_page_has_changed_when_what_it_includes_has(tmp_path: Path) -> None:
    write_files(tmp_path, {"docs/page.md": "{!rules.md!}", "docs/rules.md": "Ten a day."})
    assert read(tmp_path) == "Ten a day."
    write_files(tmp_path, {"docs/rules.md": "Twelve every day."})
    assert read(tmp_path) == "Twelve every day."


def test_a_page_without_includes_is_its_own_bytes(tmp_path: Path) -> None:
    content = "Grüße {{ nobody }} {% note %}\r\n".encode("cp1252")
    (tmp_path / "page.md").write_bytes(content)
    file = SourceFile(source=str(tmp_path), path=tmp_path / "page.md", source_file="page.md")
    assert read_source(file) == content
