"""Pages hold what they include from other files of their folder, and nothing from outside of it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from rag_core.ingestion.headings import Site
from rag_core.ingestion.loaders import load, read_source
from rag_core.ingestion.sources import SourceFile, find_files
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


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("import Rules from './_rules.md';\n\n<Rules />", "Rules.\n\nTen."),
        ("import Rules from './\\_rules.md'\n\n<Rules/>", "Rules.\n\nTen."),
        ('import Rules from "../common/_all.mdx";\n\n<Rules></Rules>', "All.\n\nTwelve."),
        ("import Rules from '@site/docs/_rules.md';\n\n<Rules />", "Rules.\n\nTen."),
        ("import Rules from '/docs/_rules.md';\n\n<Rules />", "Rules.\n\nTen."),
        ("import Rules, { toc as rules } from './plain.md';\n\n<Rules />", "Plain."),
        ("<Rules />\n\nimport Rules from './plain.md';", "Plain."),
        ("import A from './plain.md';\nimport B from './plain.md';\n\n<A />\n<B />",
         "Plain.\n\nPlain."),
        ("import Rules from './_rules.md';\n\n1. One\n\n   <Rules />\n\n2. Two",
         "1. One\n\n   Rules.\n\n   Ten.\n\n2. Two"),
        ("import P from './_named.mdx';\n\n<P what=\"questions\" when={'day'} />",
         "Ten questions a day, by `{props.what}`."),
        ("import Rules from './none.md';\n\n<Rules />\n\nAfter.", "After."),
        ("import Rules from 'package/plain.md';\n\n<Rules />\n\nAfter.", "After."),
        ("```mdx\nimport Rules from './plain.md';\n\n<Rules />\n```",
         "```mdx\nimport Rules from './plain.md';\n\n<Rules />\n```"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("page", ["docs/page.md", "docs/page.mdx"])
def test_a_page_has_the_pages_that_it_imports(
    tmp_path: Path, page: str, written: str, shown: str
) -> None:
    write_files(
        tmp_path,
        {
            "docs/_rules.md": "---\ntitle: R\n---\nimport T from '@theme/T';\n\nRules.\n\nTen.\n",
            "docs/plain.md": "Plain.\n",
            "docs/_named.mdx": "Ten {props.what} a {props.when}{props.none}, by `{props.what}`.\n",
            "common/_all.mdx": "import More from './_more.md';\n\nAll.\n\n<More />\n",
            "common/_more.md": "Twelve.\n",
            page: f"{written}\n",
        },
    )
    assert re.sub(r"\n{3,}", "\n\n", read(tmp_path, page)) == shown


def test_a_part_of_a_site_finds_what_its_pages_import_from_the_root_of_the_site(
    tmp_path: Path,
) -> None:
    page = "import Rules from '@site/docs/guide/_rules.md';\n\n<Rules />\n"
    write_files(tmp_path, {"docs/guide/page.md": page, "docs/guide/_rules.md": "Ten a day."})
    assert read(tmp_path / "docs", "guide/page.md") == "Ten a day."


@pytest.mark.parametrize(
    "path",
    [
        "../../outside/secret.md",
        "/../outside/secret.md",
        "@site/../outside/secret.md",
        "./link.md",
        "./linked/secret.md",
        "./.hidden.md",
        "./large.md",
        "./pipe.md",
        "./binary.md",
    ],
)
def test_nothing_from_outside_or_hidden_is_imported(tmp_path: Path, path: str) -> None:
    root = tmp_path / "inside"
    secret = "The secret is 4711."
    write_files(tmp_path, {"outside/secret.md": secret})
    page = f"import Secret from '{path}';\n\nBefore.\n\n<Secret />\n\nAfter.\n"
    write_files(
        root,
        {
            "docs/.hidden.md": secret,
            "docs/large.md": secret + "x" * 400_000,
            "docs/page.md": page,
        },
    )
    (root / "docs/binary.md").write_bytes(f"{secret}\0".encode())
    (root / "docs/link.md").symlink_to(tmp_path / "outside/secret.md")
    (root / "docs/linked").symlink_to(tmp_path / "outside")
    os.mkfifo(root / "docs/pipe.md")
    assert read(root) == "Before.\n\nAfter."


def test_pages_that_import_each_other_come_to_an_end(tmp_path: Path) -> None:
    tags = "\n\n".join(["<A />", "<B />"] * 20)
    page = f"import A from './page.md';\nimport B from './b.md';\n\nOne.\n\n{tags}"
    write_files(tmp_path, {"page.md": page, "b.md": page.replace("One", "Two")})
    shown = read(tmp_path, "page.md")
    assert shown.startswith("One.")
    assert "Two." in shown
    assert len(shown) < 1_000_000


def test_a_page_has_changed_when_what_it_imports_has(tmp_path: Path) -> None:
    write_files(tmp_path, {"docs/page.md": "import A from './_a.md';\n\n<A />"})
    write_files(tmp_path, {"docs/_a.md": "Ten a day."})
    assert read(tmp_path) == "Ten a day."
    write_files(tmp_path, {"docs/_a.md": "Twelve every day."})
    assert read(tmp_path) == "Twelve every day."


@pytest.mark.parametrize(
    ("files", "site", "pages"),
    [
        ({"docusaurus.config.js": "", "_never.md": "x", "_parts/a.md": "x"}, None, []),
        ({"_never.md": "x", "_parts/a.md": "x"}, Site.DOCUSAURUS, []),
        ({"_index.md": "x", "_posts/a.md": "x"}, None, ["_index.md", "_posts/a.md"]),
        ({"b.md": "import A from './_a.md'\n\n<A />", "_a.md": "x", "_index.md": "x"}, None,
         ["_index.md", "b.md"]),
        ({"b.mdx": "import A from '../docs/a.md'\n\n<A />", "a.md": "x"}, None, ["a.md", "b.mdx"]),
        ({"b.md": "See _a.md and './_a.md'.", "_a.md": "x"}, None, ["_a.md", "b.md"]),
    ],
)  # fmt: skip
def test_what_is_only_imported_is_no_page_of_its_own(
    tmp_path: Path, files: dict[str, str], site: Site | None, pages: list[str]
) -> None:
    folder = tmp_path / "docs"
    write_files(folder, {**files, "page.md": "Ten a day."})
    found = find_files([str(folder)], site=site)
    assert [file.source_file for file in found.files] == [*pages, "page.md"]
    assert not found.failures


def test_a_part_of_a_page_is_read_where_it_is_named_itself(tmp_path: Path) -> None:
    write_files(tmp_path, {"docusaurus.config.js": "", "_a.md": "x"})
    found = find_files([str(tmp_path / "_a.md")])
    assert [file.source_file for file in found.files] == ["_a.md"]
