"""A reStructuredText file: docutils makes HTML of it, which is written as Markdown."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.core import publish_parts
from docutils.parsers.rst import Directive, directives, roles
from lxml import html

from rag_core.ingestion.loaders.decoding import decoded
from rag_core.ingestion.loaders.document import Converted
from rag_core.ingestion.loaders.markup import Writer

SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "_disable_config": True,
    "report_level": 5,
    "halt_level": 5,
    "warning_stream": False,
    "doctitle_xform": False,
    "initial_header_level": 1,
    "math_output": "LaTeX",
    "syntax_highlight": "none",
    "embed_stylesheet": False,
    "stylesheet_path": "",
    "line_length_limit": 10_000_000,
    "smart_quotes": False,
}
"""Nothing is read from other files or taken over as it is, and no page stops at an error."""
DIRECTIVE = re.compile(r"(?m)^[ \t]*\.\. ([\w.+-]+(?::[\w.+-]+)*)::")
ROLE = re.compile(r":([\w.+-]+(?::[\w.+-]+)*):`")
WITH_TARGET = re.compile(r"(.*?)\s*<([^<>]+)>$", re.DOTALL)
CODE = {"code-block", "sourcecode", "code-cell", "ipython", "prompt", "parsed-literal", "doctest"}
SILENT = {
    "toctree", "index", "highlight", "currentmodule", "module", "autosummary", "default-domain",
    "contents", "sectionauthor", "codeauthor", "tabularcolumns", "meta", "raw", "include", "image",
}  # fmt: skip
"""What speaks to the generator of the site only."""
VERSIONS = {
    "versionadded": "New in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
}
WORDS = {"ref", "doc", "term", "guilabel", "menuselection", "abbr", "dfn", "any", "numref", "pep"}
"""Roles of prose; of the others, the text is code."""


def convert(name: str, content: bytes) -> Converted:
    """The file's text with its titles, lists, tables, notes and code."""
    text, notice = decoded(content)
    notices = (notice,) if notice else ()
    learn(text)
    body = publish_parts(text, writer="html5", settings_overrides=SETTINGS)["body"]
    if not body.strip():
        return Converted(text="", notices=notices)
    tree = html.fragment_fromstring(body, create_parent="body")
    for fault in tree.find_class("system-message"):
        fault.drop_tree()
    for literal in tree.find_class("literal"):
        literal.tag = "code"
    for block in tree.iter("pre"):
        block.set("class", f"language-{block.get('lang') or 'text'}")
    return Converted(text=Writer().written(tree), notices=notices)


def learn(text: str) -> None:
    """Makes known every directive and role that this file uses and docutils does not have: what
    belongs to Sphinx and its extensions keeps its words, too."""
    known = directives._directive_registry
    for name in {match[1].lower() for match in DIRECTIVE.finditer(text)}:
        if name not in known or name in SILENT | CODE:
            directives.register_directive(name, Kept)
    for name in {match[1].lower() for match in ROLE.finditer(text)}:
        if name not in roles._role_registry:
            roles.register_local_role(name, said)


class Kept(Directive):  # type: ignore[misc]  # docutils ships no types
    """A directive of another program: its title and what it holds."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True

    class AnyOption(dict[str, Any]):
        """Options are read as options, whatever they are called."""

        def __bool__(self) -> bool:
            return True

        def __getitem__(self, name: str) -> Any:
            return directives.unchanged

    option_spec = AnyOption()

    def run(self) -> list[nodes.Node]:
        name = self.name.lower()
        argument = " ".join(" ".join(self.arguments).split())
        if name in SILENT:
            return []
        if name in CODE:
            block = nodes.literal_block("\n".join(self.content), "\n".join(self.content))
            block["classes"] = [f"language-{argument.split()[0]}"] if argument else []
            return [block]
        holder = nodes.container()
        if argument:
            holder += self._head(name, argument)
        self.state.nested_parse(self.content, self.content_offset, holder)
        return [holder]

    def _head(self, name: str, argument: str) -> nodes.Node:
        """What a directive is about: a signature, a version, a title."""
        if name in VERSIONS:
            version, _, news = argument.partition(" ")
            argument = f"{VERSIONS[name]} {version}: {news}"
        elif ":" in name or re.search(r"[({.\[]", argument):
            return nodes.paragraph("", "", nodes.literal(argument, argument))
        inline, _ = self.state.inline_text(argument, self.lineno)
        return nodes.paragraph("", "", *inline)


def said(
    role: str,
    rawtext: str,
    text: str,
    lineno: int,
    inliner: Any,
    options: Any = None,
    content: Any = (),
) -> tuple[list[nodes.Node], list[nodes.Node]]:
    """A role of another program: the words that a reader sees."""
    titled = WITH_TARGET.match(nodes.unescape(text))
    words = titled[1] if titled and titled[1] else nodes.unescape(text)
    if role.split(":")[-1] in WORDS:
        return [nodes.Text(words)], []
    words = words.lstrip("!")
    if words.startswith("~"):
        words = words.rsplit(".", 1)[-1].lstrip("~")
    return [nodes.literal(rawtext, words)], []
