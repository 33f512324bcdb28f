"""Roles, labels and attributes of Sphinx, MyST, mkdocstrings and Pandoc in Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable

ROLE = re.compile(
    r"(?:\{([a-zA-Z][\w:.+-]*)\}|(?<![\w:]):([a-z][\w+-]*(?::[\w+-]+)?):)\ue000(\d+)\ue001"
)
"""A role and the code after it, which is held aside by its number."""
TARGETED = re.compile(r"(.*?)\s*<([^<>]+)>", re.DOTALL)
OF_WORDS = {
    "abbr", "any", "dfn", "doc", "download", "eq", "guilabel", "index", "menuselection", "numref",
    "ref", "std:doc", "std:ref", "std:term", "sub", "sup", "term",
}  # fmt: skip
OF_NOTHING = {"cite", "cite:p", "cite:ps", "cite:t", "cite:ts", "fab", "far", "fas", "footcite"}
OF_CODE = {
    "attr", "class", "code", "command", "const", "data", "envvar", "exc", "file", "func", "kbd",
    "math", "meth", "mod", "obj", "option", "pep", "program", "rfc", "samp",
}  # fmt: skip
KNOWN = OF_WORDS | OF_NOTHING | OF_CODE
"""Between colons, where a smiley may stand as well, only these are roles."""
LABEL = re.compile(r"(?m)^[ \t]*\([\w:./-]+\)=[ \t]*$\n?")
ATTRIBUTES = re.compile(r"(?<=[)\]])\{[ \t]*(?:[\w-]+=|[.#])[^{}\n]*\}")
ANCHOR = re.compile(r"(?m)^(?![ \t]*#)(?=[^\n]*\{#)([^\n]*?)[ \t]*\{#[\w:.-]+\}")
AUTODOC = re.compile(r"(?m)^:::[ \t]+(\w+(?:\.\w+)+)[ \t]*$(?:\n[ \t]+\S[^\n]*)*")


def without_roles(prose: str, restored: Callable[[str], str]) -> str:
    """Text with the words that a reader sees of each role, and without labels and attributes."""
    if "}\ue000" in prose or ":\ue000" in prose:
        prose = ROLE.sub(lambda role: words_of(role, restored), prose)
    if "::: " in prose:
        prose = AUTODOC.sub(r"`\1`", prose)
    if ")=" in prose:
        prose = LABEL.sub("", prose)
    return ANCHOR.sub(r"\1", ATTRIBUTES.sub("", prose)) if "{" in prose else prose


def words_of(role: re.Match[str], restored: Callable[[str], str]) -> str:
    name = (role[1] or role[2]).lower()
    code = f"\ue000{role[3]}\ue001"
    if role[2] and name not in KNOWN and ":" not in name:
        return role[0]
    if name in OF_NOTHING or name.startswith("bdg"):
        return ""
    inner = restored(code).strip("`").strip()
    targeted = TARGETED.fullmatch(inner)
    if targeted and targeted[1]:
        return targeted[1] if name in OF_WORDS else f"`{targeted[1]}`"
    if name not in OF_WORDS:
        return code
    is_label = name.removeprefix("std:") in {"ref", "numref"}
    return inner.replace("-", " ").replace("_", " ") if is_label else inner.lstrip("!~/")
