"""A Markdown or MDX file without what is not for readers."""

from __future__ import annotations

import re
from collections.abc import Callable

from rag_core.ingestion.front_matter import split_front_matter
from rag_core.ingestion.loaders.admonitions import without_admonitions
from rag_core.ingestion.loaders.decoding import decoded
from rag_core.ingestion.loaders.document import Converted
from rag_core.ingestion.loaders.furniture import without_furniture
from rag_core.ingestion.loaders.holes import HOLE, mended
from rag_core.ingestion.loaders.inline_html import without_tags
from rag_core.ingestion.loaders.margins import without_margins
from rag_core.ingestion.loaders.mdx import (
    without_components,
    without_expressions,
    without_modules,
)
from rag_core.ingestion.loaders.references import definitions_in, with_links
from rag_core.ingestion.loaders.roles import without_roles
from rag_core.ingestion.loaders.templates import has_templates, without_templates

COMMENT = r"<!--.*?(?:-->|\Z)|\{/\*(?!\s*#).{0,4000}?\*/\}"
CODE = re.compile(
    r"(?m)^[ \t]*(?P<fence>`{3,}|~{3,}).*?(?:^[ \t]*(?P=fence)[`~]*[ \t]*$|\Z)"
    r"|(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n[ \t]*\n).){1,1000}?(?<!`)(?P=ticks)(?!`)"
    rf"|(?P<comment>{COMMENT})",
    re.DOTALL,
)
"""Code, which nothing touches, and comments: which of them begins first decides."""
OPENING = re.compile(r"`|~~~|<!--|\{/\*")
"""What all of these begin with, behind white space: finding it takes a fraction of trying them."""
CONTENTS = re.compile(r"(?mi)^[ \t]*(?:\[TOC\]|\[\[_?toc_?\]\]|\$\{toc\})[ \t]*$\n?")
CONTENTS_MARKS = re.compile(r"(?i)\[_?toc"), re.compile(r"(?i)\$\{toc")
"""What all of these have in them."""
WIKI_LINK = re.compile(r"(!?)\[\[(?=\S)([^\[\]|\n]{1,200})(?:\\?\|([^\[\]\n]{1,200}))?\]\](?!\()")
CLASSES = re.compile(r"\{(?::|\s*\.(?=[\w-]))[^{}\n]*\}")
INCLUDE_LINE = re.compile(
    r"(?m)^[ \t]*(?:\{\{#(?:include|rustdoc_include|playground|playpen)[^{}\n]*\}\}"
    r"|\{!>?[^{}\n]*!\}"
    r"|-+8<-+[ \t]+[\"'][^\"'\n]*[\"'])[ \t]*$"
)
EMPHASIS = re.compile(
    r"(?<![ \t])[ \t]*+(?://|#|--|;|%|REM\b|<!--|/\*|\{/\*)[ \t]*"
    r"(?:(?:[a-z]+-)*(?:highlight|error|warning|success|focus|insert(?:ed)?|add(?:ed)?|delete[d]?"
    r"|removed?)-(?:start|end|next-line)|\[!code [^\]\n]+\])[ \t]*(?:-->|\*/\}?)?[ \t]*(?=\n|\Z)"
)
"""A comment that colours lines of code: Docusaurus has lines of its own for them."""
EMPHASIS_HINTS = ("-next-line", "-start", "-end", "[!code ")
RAW_IN_CODE = re.compile(r"\{%-?\s*raw\s*-?%\}((?:[^{]|\{(?!%))*+)\{%-?\s*endraw\s*-?%\}")
FENCE = re.compile(r"[ \t]*(?:`{3,}|~{3,})[ \t]*\{?([\w.+#-]*)")
ABOUT_MARKS = {
    "", "django", "go-html-template", "go-text-template", "handlebars", "hbs", "jinja", "jinja2",
    "liquid", "markdown", "md", "mdx", "njk", "rst", "twig",
}  # fmt: skip
"""Languages of code that shows how such marks are written."""
TAG = re.compile(r"<[A-Za-z/!]")
MODULES = ("import ", "export ")
MODULE_LINE = re.compile(r"\n(?:import|export) ")
BRACKETS = re.compile(r"\[(?:TOC\]|\[)"), re.compile(r"\](?=:)")
"""A text without any of these, without braces and tags, is prose already. Each pattern begins with
one sign, which is found in a fraction of the time that a word or a choice of signs takes."""
GAP = re.compile(r"\n(?:[ \t]*\n){2,}")
HELD = "\ue000{}\ue001"
HELD_CODE = re.compile("\ue000(\\d+)\ue001")
"""Stands for a piece of code while the prose around it is worked on."""


def convert(name: str, content: bytes) -> Converted:
    """The text after the front matter, and the front matter's settings."""
    text, guessed = decoded(content)
    fields, text, odd = split_front_matter(text)
    notices = tuple(notice for notice in (guessed, odd) if notice)
    fields = {key: plain_value(value) for key, value in fields.items()}
    return Converted(
        text=readable(text, is_mdx=name.lower().endswith(".mdx")), fields=fields, notices=notices
    )


def plain_value(value: object) -> object:
    """A setting without template marks: titles have them as well."""
    has_marks = isinstance(value, str) and ("{%" in value or "{{" in value)
    return readable(str(value)).strip() if has_marks else value


def readable(text: str, *, is_mdx: bool = False) -> str:
    """The text as readers of the page see it, code as it is."""
    as_written, text = text, without_admonitions(without_margins(text))
    if text == as_written and is_prose(text):
        return without_furniture(text)
    held: list[str] = []

    def hold(text: str) -> str:
        held.append(restored(text))
        return HELD.format(len(held) - 1)

    def restored(prose: str) -> str:
        return HELD_CODE.sub(lambda match: held[int(match[1])], prose)

    def without_code(code: re.Match[str]) -> str:
        shown = "" if code["comment"] else without_missing_includes(without_emphasis(code[0]))
        return hold(shown) if shown else ""

    prose = with_code_replaced(HELD_CODE.sub("", text).replace(HOLE, ""), without_code)
    if has_templates(prose):
        prose = without_templates(prose, hold)
    prose = without_roles(prose, restored)
    prose = without_components(without_modules(without_marks(prose)), inline=is_mdx)
    if is_mdx:
        prose = without_expressions(prose)
    prose = with_links(prose, definitions_in(prose)) if "]:" in prose else prose
    prose = without_furniture(mended(without_tags(prose)))
    return restored(GAP.sub("\n\n", prose))


def without_emphasis(code: str) -> str:
    """Code without the comments that only colour its lines; a line of nothing else goes whole."""
    if "\n" not in code or not any(hint in code for hint in EMPHASIS_HINTS):
        return code
    lines = code.split("\n")
    plain = ((line, EMPHASIS.sub("", line)) for line in lines)
    return "\n".join(after for before, after in plain if after.strip() or after == before)


def without_missing_includes(code: str) -> str:
    """Code without lines that stand for a file which is not there, and without the marks of `raw`;
    nothing where no other line is left."""
    if "{" not in code and "8<-" not in code:
        return code
    if "{%" in code:
        code = RAW_IN_CODE.sub(r"\1", code)
    lines = code.split("\n")
    fence = FENCE.match(lines[0])
    if fence is None or fence[1].lower() in ABOUT_MARKS or not INCLUDE_LINE.search(code):
        return code
    inside = [line for line in lines[1:-1] if INCLUDE_LINE.fullmatch(line) is None]
    return "\n".join([lines[0], *inside, lines[-1]]) if any(map(str.strip, inside)) else ""


def with_code_replaced(text: str, replacement: Callable[[re.Match[str]], str]) -> str:
    """What `CODE.sub` makes of a text, without looking for code at each of its characters."""
    parts: list[str] = []
    written = looked_at = 0
    while opening := OPENING.search(text, looked_at):
        at = opening.start()
        line = text.rfind("\n", looked_at, at) + 1 or looked_at
        looked_at = at + 1
        if match := CODE.match(text, line) or CODE.match(text, at):
            parts += (text[written : match.start()], replacement(match))
            written = looked_at = match.end()
    return "".join([*parts, text[written:]]) if parts else text


def is_prose(text: str) -> bool:
    """Whether there is nothing in a text to take away."""
    if "{" in text or text.startswith(MODULES) or MODULE_LINE.search(text):
        return False
    if "[" in text and any(mark.search(text) for mark in BRACKETS):
        return False
    if any(hint in text for hint in EMPHASIS_HINTS):
        return False
    if "8<-" in text or "<<<" in text or ")=\n" in text or "::: " in text:
        return False
    return "<" not in text or TAG.search(text) is None


def own_anchor(braces: re.Match[str]) -> str:
    """What stays of `{: #hours .big }`: behind a heading, the anchor that it gives it."""
    line = braces.string.rfind("\n", 0, braces.start()) + 1
    named = re.search(r"#([\w.:-]+)", braces[0])
    is_heading = braces.string[line:].lstrip(" ").startswith("#")
    return f" {{#{named[1]}}}" if named and is_heading else ""


def linked_words(link: re.Match[str]) -> str:
    """What a reader sees of `[[Page|words]]`; an embedded file is none of the text."""
    embeds, page, words = link.groups()
    if embeds:
        return ""
    is_page = words or page[0].isupper() or any(mark in page for mark in " /#")
    return (words or page).strip() if is_page else link[0]


def without_classes(prose: str) -> str:
    """Text without `{: .big }`, and without the blanks before it."""
    parts: list[str] = []
    end = 0
    for braces in CLASSES.finditer(prose):
        parts += (prose[end : braces.start()].rstrip(" \t"), own_anchor(braces))
        end = braces.end()
    return "".join([*parts, prose[end:]])


def without_marks(prose: str) -> str:
    """Text without the lines and braces that only speak to a site's generator."""
    if "{" in prose and ("{:" in prose or "{ ." in prose or "{." in prose):
        prose = without_classes(prose)
    if any(mark.search(prose) for mark in CONTENTS_MARKS):
        prose = CONTENTS.sub("", prose)
    return WIKI_LINK.sub(linked_words, prose) if "[[" in prose else prose
