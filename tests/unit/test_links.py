"""A page's address follows the rules and the configuration of the site that shows it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rag_core.ingestion.headings import Site, headings_of
from rag_core.ingestion.links import page_path
from rag_core.ingestion.site import Habits, Rules, rules_of
from tests.fakes.locked_folder import locked
from tests.shelf_builders import write_files

NUMBERED = Habits(keeps_numbers=True)
SLASHED = Habits(ends_with_slash=True)
NAMED = Habits(has_file_names=True)


@pytest.mark.parametrize(
    ("file", "fields", "habits", "path"),
    [
        ("01-guide/02-start.md", {}, NUMBERED, "01-guide/02-start"),
        ("01-guide/02-start.md", {"parse_number_prefixes": False}, Habits(), "01-guide/02-start"),
        ("01-guide/02-start.md", {"id": "go", "slug": "gone"}, Habits(), "guide/gone"),
        ("01-guide/02-start.md", {"slug": "./sub/"}, Habits(), "guide/sub"),
        ("01-guide/deep/02-start.md", {"slug": "../up"}, Habits(), "guide/up"),
        ("02-start.md", {"slug": "/"}, Habits(), ""),
        ("01-guide/README.md", {"id": "overview"}, Habits(), "guide"),
        ("01-guide/01-guide.md", {}, Habits(), "guide"),
        ("01-guide/guide.md", {}, Habits(), "guide/guide"),
        ("guide/start.md", {"id": "guide"}, Habits(), "guide/guide"),
        ("guide/start.md", {"id": 7, "slug": " "}, Habits(), "guide/start"),
        ("guide/_part.md", {}, Habits(), None),
        ("_parts/start.md", {}, Habits(), None),
        ("guide/start.md", {}, SLASHED, "guide/start/"),
        ("guide/README.md", {}, SLASHED, "guide/"),
        ("docs/guide/start.md", {}, Habits(content="docs"), "guide/start"),
        ("blog/start.md", {}, Habits(content="docs"), None),
    ],
)
def test_docusaurus_names_pages_by_its_own_rules(
    file: str, fields: dict[str, Any], habits: Habits, path: str | None
) -> None:
    assert page_path(file, fields, Site.DOCUSAURUS, habits) == path


@pytest.mark.parametrize(
    ("site", "file", "habits", "path"),
    [
        (Site.MKDOCS, "guide/start.md", NAMED, "guide/start.html"),
        (Site.MKDOCS, "guide/README.md", NAMED, "guide/index.html"),
        (Site.MKDOCS, "docs/guide/start.md", Habits(content="docs"), "guide/start/"),
        (Site.MKDOCS, "README.md", Habits(content="docs"), None),
        (Site.MDBOOK, "src/ch01.md", Habits(content="src"), "ch01.html"),
        (Site.MDBOOK, "SUMMARY.md", Habits(), None),
        (Site.PLAIN, "guide/start.html", Habits(), "guide/start.html"),
        (Site.PLAIN, "guide/index.html", Habits(), "guide/"),
        (Site.PLAIN, "lesson.ipynb", Habits(), "lesson"),
        (Site.PLAIN, "guide/start.rst", Habits(), "guide/start"),
        (Site.DOCUSAURUS, "01-guide/03-limits.pdf", Habits(), "01-guide/03-limits.pdf"),
        (Site.MKDOCS, "talk.pptx", Habits(), "talk.pptx"),
        (Site.GITHUB, "docs/limits.pdf", Habits(), "docs/limits.pdf"),
    ],
)
def test_other_sites_and_other_files_have_theirs(
    site: Site, file: str, habits: Habits, path: str | None
) -> None:
    assert page_path(file, {}, site, habits) == path


@pytest.mark.parametrize(
    ("files", "read", "rules"),
    [
        ({"docs/a.md": ""}, "docs", Rules()),
        ({"mkdocs.yml": "", "docs/a.md": ""}, "docs", Rules(Site.MKDOCS)),
        ({"mkdocs.yml": "", "docs/a.md": ""}, ".", Rules(Site.MKDOCS, Habits(content="docs"))),
        ({"mkdocs.yml": "docs_dir: 'pages'\nuse_directory_urls: false", "pages/a.md": ""}, ".",
         Rules(Site.MKDOCS, Habits(content="pages", has_file_names=True))),
        ({"mkdocs.yml": "plugins: [!!python/name:os.system]", "docs/b/a.md": ""}, "docs/b",
         Rules(Site.MKDOCS)),
        ({"book.toml": '[book]\nsrc = "./text"\n', "text/a.md": ""}, ".",
         Rules(Site.MDBOOK, Habits(content="text"))),
        ({"book.toml": "", "src/a.md": ""}, "src", Rules(Site.MDBOOK)),
        ({"docusaurus.config.ts": "docs: { numberPrefixParser: false }", "docs/a.md": ""}, "docs",
         Rules(Site.DOCUSAURUS, Habits(keeps_numbers=True))),
        ({"docusaurus.config.js": "// numberPrefixParser: false\ntrailingSlash: true", "a.md": ""},
         "a.md", Rules(Site.DOCUSAURUS, Habits(ends_with_slash=True))),
        ({"docusaurus.config.js": "docs: {routeBasePath: '/'}", "docs/a.md": ""}, ".",
         Rules(Site.DOCUSAURUS, Habits(content="docs"))),
    ],
)  # fmt: skip
def test_the_configuration_file_says_what_the_site_is(
    tmp_path: Path, files: dict[str, str], read: str, rules: Rules
) -> None:
    write_files(tmp_path / "a" / "b" / "c", files)
    assert rules_of(tmp_path / "a" / "b" / "c" / read) == rules


def test_a_named_site_wins_over_the_configuration_of_another(tmp_path: Path) -> None:
    write_files(tmp_path, {"mkdocs.yml": "use_directory_urls: false", "docs/a.md": ""})
    assert rules_of(tmp_path / "docs", Site.GITHUB) == Rules(Site.GITHUB)
    assert rules_of(tmp_path / "docs", Site.MKDOCS) == Rules(Site.MKDOCS, NAMED)


def test_a_folder_that_may_not_be_looked_into_says_nothing_of_its_site(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = write_files(tmp_path / "docs", {"mkdocs.yml": "", "a.md": ""})
    locked(docs, monkeypatch)
    assert rules_of(docs) == rules_of(docs / "a.md") == Rules()


@pytest.mark.parametrize(
    ("site", "titles", "anchors"),
    [
        (Site.GITHUB, ["⚙️ Set-up", "🎯 Goals"], ["\ufe0f-set-up", "-goals"]),
        (Site.GITHUB, ["हिन्दी में", "e\u0301tude", "10 m²"], ["हिन्दी-में", "e\u0301tude", "10-m"]),
        (Site.MKDOCS, ["你好", "再见"], ["_1", "_2"]),
        (Site.MKDOCS, ["Same", "Other { #same_1 }", "Same"], ["same", "same_1", "same_2"]),
        (Site.MKDOCS, ["Taken", "Later { #taken }"], ["taken_1", "taken"]),
        (Site.DOCUSAURUS, ["Own {/* #mine */}", "Mine"], ["mine", "mine"]),
    ],
)
def test_anchors_of_other_scripts_and_of_repeats(
    site: Site, titles: list[str], anchors: list[str]
) -> None:
    assert [h.anchor for h in headings_of([(2, title) for title in titles], site)] == anchors
