"""What MDX has beside Markdown: modules, components and expressions, none of it for readers."""

from __future__ import annotations

import re

IMPORT = re.compile(
    r"(?m)^import\s+(?:[\w*{][\w\s,*{}$]{0,2000}?\s+from\s+)?(['\"])[^'\"\n]+\1[ \t]*;?[ \t]*$\n?"
)
EXPORT = re.compile(r"(?m)^export\s+(?:const|let|var|function|async|class|default)\b[^\n]*\n?")
BRACED = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"
ATTRIBUTES = rf"(?:\s+(?:[\w:.-]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|{BRACED}))?|{BRACED}))*"
TAG = re.compile(rf"(?<!\w)<[A-Z][\w.]*{ATTRIBUTES}\s*/?>|</[A-Z][\w.]*\s*>|</?>")
ALONE = re.compile(rf"(?m)^[ \t]*<(?:/?[A-Z][\w.]*(?P<attributes>{ATTRIBUTES})\s*/?|/?)>[ \t]*$\n?")
SPOKEN = re.compile(r"\b(?:title|label|caption|summary)\s*=\s*(?:\{\s*)?(['\"`])(.*?)\1", re.DOTALL)
LITERAL = re.compile(r"\{\s*(['\"`])([^'\"`{}\n]*)\1\s*\}")
ALONE_EXPRESSION = re.compile(rf"(?m)^[ \t]*(?!\{{[*#%{{]){BRACED}[ \t]*$\n?")
MOST_LINES = 200
"""An export that runs on for longer than this is text that only begins like one."""


def without_modules(prose: str) -> str:
    """Text without imports and exports."""
    if begins_a_line("import", prose):
        prose = IMPORT.sub("", prose)
    return without_exports(prose) if begins_a_line("export", prose) else prose


def begins_a_line(word: str, prose: str) -> bool:
    return prose.startswith(word) or f"\n{word}" in prose


def without_exports(prose: str) -> str:
    """An export goes on until its brackets are closed, over blank lines too."""
    parts: list[str] = []
    end = 0
    while match := EXPORT.search(prose, end):
        parts.append(prose[end : match.start()])
        end = statement_end(prose, match.start())
    return "".join([*parts, prose[end:]])


def statement_end(text: str, start: int) -> int:
    """Behind the line with which a statement of JavaScript is over."""
    open_brackets = 0
    at = start
    for _ in range(MOST_LINES):
        line_end = text.find("\n", at)
        line = text[at : len(text) if line_end < 0 else line_end]
        open_brackets += sum(map(line.count, "([{")) - sum(map(line.count, ")]}"))
        at = len(text) if line_end < 0 else line_end + 1
        if open_brackets <= 0 or at == len(text):
            return at
    return text.find("\n", start) + 1


def without_components(prose: str, *, inline: bool) -> str:
    """Text without the tags of components; their titles and what stands between them stay.

    In a Markdown file only tags on lines of their own are taken for components: in a sentence,
    `<T>` may be the name of a type."""
    if "<" not in prose:
        return prose
    prose = ALONE.sub(spoken, prose)
    return TAG.sub("", prose) if inline else prose


def spoken(tag: re.Match[str]) -> str:
    """What a component says of itself, as a line of text."""
    words = [" ".join(found[2].split()) for found in SPOKEN.finditer(tag["attributes"] or "")]
    return f"\n{' – '.join(words)}\n\n" if any(words) else ""


def without_expressions(prose: str) -> str:
    """Text without expressions on lines of their own; a string in braces is its words."""
    return ALONE_EXPRESSION.sub("", LITERAL.sub(r"\2", prose)) if "{" in prose else prose
