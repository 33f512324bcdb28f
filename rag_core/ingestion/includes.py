"""A page with the texts, code and values in it that it takes from other files of its folder."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rag_core.ingestion.front_matter import split_front_matter
from rag_core.ingestion.kinds import MARKDOWN, SMALL, kind_of
from rag_core.ingestion.loaders.decoding import decoded
from rag_core.ingestion.loaders.document import Unreadable
from rag_core.ingestion.loaders.markdown import ABOUT_MARKS, FENCE, with_code_replaced
from rag_core.ingestion.loaders.mdx import ATTRIBUTES, without_modules
from rag_core.ingestion.loaders.tag_words import arguments_in
from rag_core.ingestion.loaders.templates import RAW
from rag_core.ingestion.partials import HINT as IMPORT_HINT
from rag_core.ingestion.partials import imported_partials, with_properties
from rag_core.ingestion.site_files import SiteFiles, read_text, stamp
from rag_core.ingestion.sources import SourceFile

HINT = re.compile(
    rb"\{\{|\{%|\{!|\{\*|8<-|<<<|\{include\}|\{literalinclude\}|" + IMPORT_HINT.pattern
)
DEEPEST = 6
"""Texts that include texts; what is nested deeper runs in a circle."""
MOST_INCLUDES = 300
MOST_CHARACTERS = 512 * 1024
"""Of all that one page takes over."""
MARK = re.compile(
    r"(?<!\\)\{\{#(?:include|rustdoc_include|playground|playpen)[ \t]+(?P<book>[^\n{}]+?)[ \t]*\}\}"
    r"|(?<!\\)\{!>?[ \t]*(?P<bang>[^\n{}!]+?)[ \t]*!\}"
    r"|(?<!\\)\{\*[ \t]+(?P<star>[^\n{}*]+?)[ \t]*\*\}"
    r"|^(?P<margin>[ \t]*)-+8<-+[ \t]+(?P<snippet>[\"'][^\n\"']+[\"'])[ \t]*$"
    r"|^[ \t]*-+8<-+[ \t]*\n(?P<snippets>(?:[^\n]+\n){1,50}?)[ \t]*-+8<-+[ \t]*$"
    r"|^[ \t]*<<<[ \t]*(?P<press>@?[\w./][^\n]*)$"
    r"|^(?P<ticks>`{3,}|:{3,})\{(?P<directive>include|literalinclude)\}[ \t]*(?P<myst>[^\n]+)\n"
    r"(?:[^\n]*\n){0,20}?(?P=ticks)[ \t]*$"
    r"|\{%-?[ \t]*(?P<tag>include|include_relative|include_cached|render|data"
    r"|indented_data_reference)[ \t]+(?P<given>(?:[^\n{}%]|%(?!\}))+?)[ \t]*-?%\}"
    r"|\{\{[<%][ \t]*(?P<code>include|readfile|param)[ \t]+(?P<named>[^\n{}<>%]+?)[ \t]*/?[>%]\}\}"
    r"|(?<![$=\\{])\{\{-?[ \t]*(?P<value>[A-Za-z_][\w-]*(?:\.[\w-]+)+)[ \t]*(?:\|[^\n{}]*)?\}\}",
    re.MULTILINE,
)
COMPONENT = re.compile(
    rf"<(?P<name>[A-Z]\w*)(?P<given>{ATTRIBUTES})\s*(?:/>|>(?:\s*</(?P=name)\s*>)?)"
)
EVERYWHERE = ("tag", "code")
"""Marks that their generators carry out in code as well, whatever its language."""
HELD = re.compile("\ue000(\\d+)\ue001")
DIRECTIVE_FENCE = re.compile(r"`{3,}\{(?:include|literalinclude)\}")
SECTION = re.compile(r"(.*?\.\w+|[^:]+?)(?::([\w:.,-]*))?")
ANCHOR_LINE = re.compile(r"ANCHOR(?:_END)?:|--8<-- ?\[(?:start|end):|#(?:end)?region\b")
PARAMETER = re.compile(r"\{\{-?\s*include\.([\w-]+)\s*(?:\|[^{}\n]*)?-?\}\}")
SIMPLE = re.compile(r"[\w .,()/+&-]*")
LANGUAGES = {
    "py": "python",
    "rs": "rust",
    "js": "javascript",
    "ts": "typescript",
    "yml": "yaml",
    "sh": "bash",
}
IN_PROSE = {"md", "mdx", "markdown", "html", "htm", "txt", "njk", "liquid", ""}


def with_includes(file: SourceFile, content: bytes) -> bytes:
    """The file's content, with what it includes in the place of the marks that say so.

    What is not there, or lies outside of the folder, leaves its mark, which the loader removes."""
    is_page = kind_of(file.source_file) is MARKDOWN and len(content) <= SMALL
    if not is_page or not os.path.isdir(file.source) or HINT.search(content) is None:
        return content
    try:
        text, _ = decoded(content)
    except Unreadable:
        return content
    expanded = Expansion(SiteFiles(Path(file.source), file.path), page_fields(text)).page(text)
    return content if expanded == text else expanded.encode("utf-8", "replace")


def page_fields(text: str) -> dict[str, str]:
    """The texts of a page's front matter, where the page speaks of its own fields."""
    if "page." not in text and "param" not in text:
        return {}
    fields = split_front_matter(text)[0]
    return {name: value for name, value in fields.items() if isinstance(value, str)}


@dataclass(slots=True)
class Budget:
    """How much one page may still take over."""

    includes: int = MOST_INCLUDES
    characters: int = MOST_CHARACTERS


@dataclass(slots=True)
class Expansion:
    """The work on one page, or on a file that the page imports."""

    files: SiteFiles
    fields: dict[str, str]
    budget: Budget = field(default_factory=Budget)

    def page(self, text: str) -> str:
        """A page's front matter with plain values, and its text with all."""
        _, body, _ = split_front_matter(text)
        head = text[: len(text) - len(body)]
        if "{%" in head or "{{" in head:
            head = MARK.sub(lambda mark: self._simple(mark), head)
        return head + self.expanded(body, DEEPEST)

    def expanded(self, text: str, depth: int) -> str:
        """The text with its includes, those in code too; what is `raw` is left as it is."""
        opening, closing = RAW
        parts: list[str] = []
        end = 0
        while (first := opening.search(text, end)) and (last := closing.search(text, first.end())):
            parts += (
                self._included(text[end : first.start()], depth),
                text[first.start() : last.end()],
            )
            end = last.end()
        return "".join([*parts, self._included(text[end:], depth)])

    def _included(self, text: str, depth: int) -> str:
        partials = imported_partials(text) if "import" in text else {}
        if not partials and MARK.search(text) is None:
            return text
        held: list[str] = []

        def hold(code: re.Match[str]) -> str:
            if code["comment"] or DIRECTIVE_FENCE.match(code[0]):
                return code[0]
            held.append(self._code(code[0], depth))
            return f"\ue000{len(held) - 1}\ue001"

        def component(tag: re.Match[str]) -> str:
            path = partials.get(tag["name"])
            found = path and self._bounded(lambda: self._partial(path, tag, depth), depth)
            if not found:
                return tag[0]
            held.append(found)
            return f"\ue000{len(held) - 1}\ue001"

        prose = with_code_replaced(text.replace("\ue000", ""), hold)
        partials = imported_partials(prose)
        prose = COMPONENT.sub(component, prose) if partials else prose
        prose = MARK.sub(lambda mark: self._replacement(mark, depth, in_code=False), prose)
        return HELD.sub(lambda match: held[int(match[1])], prose)

    def _code(self, code: str, depth: int) -> str:
        """Code with what it includes; what shows how marks are written stays."""
        fence = FENCE.match(code)
        shows_marks = fence is None or fence[1].lower() in ABOUT_MARKS

        def replacement(mark: re.Match[str]) -> str:
            if shows_marks and not any(mark[name] for name in EVERYWHERE):
                return mark[0]
            found = self._replacement(mark, depth, in_code=True)
            return mark[0] if fence and "```" in found else found

        return MARK.sub(replacement, code)

    def _simple(self, mark: re.Match[str]) -> str:
        """A value that may stand in front matter without being read as something else."""
        found = self._replacement(mark, DEEPEST, in_code=True)
        return found if SIMPLE.fullmatch(found) else mark[0]

    def _replacement(self, mark: re.Match[str], depth: int, *, in_code: bool) -> str:
        """What stands for a mark, or the mark itself where nothing is found."""
        found = self._bounded(lambda: self._found(mark, depth, in_code=in_code), depth)
        return mark[0] if found is None else found

    def _bounded(self, find: Callable[[], str | None], depth: int) -> str | None:
        """What is found, as long as the page may take over so much."""
        if not depth or self.budget.includes <= 0:
            return None
        self.budget.includes -= 1
        found = find()
        if found is None or len(found) > self.budget.characters:
            return None
        self.budget.characters -= len(found)
        return found

    def _found(self, mark: re.Match[str], depth: int, *, in_code: bool) -> str | None:
        if mark["value"]:
            return None if in_code else self._value(mark["value"], depth)
        if mark["tag"] in {"data", "indented_data_reference"}:
            return self._data(mark, depth)
        if mark["code"] == "param":
            name = mark["named"].strip().strip("\"'")
            return self.fields.get(name) or self.files.value(f"site.{name}")
        if mark["tag"] or mark["code"]:
            return self._part(mark, mark["given"] or mark["named"], depth)
        if mark["snippets"]:
            names = [
                line.strip() for line in mark["snippets"].splitlines() if not line.startswith(";")
            ]
            texts = [self._file(name, depth, in_code=in_code) for name in names if name]
            return "\n\n".join(text for text in texts if text) or None
        if mark["star"]:
            return self._listing(mark["star"])
        named = mark["book"] or mark["bang"] or mark["snippet"] or mark["press"] or mark["myst"]
        name = named.strip().strip("\"'").removeprefix("@/").removeprefix("@")
        if mark["press"] or mark["directive"] == "literalinclude":
            return self._listing(name.split()[0] if name.split() else "")
        found = self._file(name.split(" ")[0], depth, in_code=in_code)
        return found if found is None else indented(found, mark["margin"] or margin_of(mark))

    def _value(self, path: str, depth: int) -> str | None:
        first, _, rest = path.partition(".")
        own = self.fields.get(rest) if first == "page" else None
        value = own if own is not None else self.files.value(path)
        return None if value is None else self.expanded(value, depth - 1)

    def _data(self, mark: re.Match[str], depth: int) -> str | None:
        """`variables.product.name`: a value; `reusables.pages.intro`: a text of its own."""
        path = mark["given"].split()[0].strip("\"'")
        value = self.files.value(path)
        if value is None and re.fullmatch(r"[\w-]+(?:\.[\w-]+)+", path):
            value = self.files.text(f"data/{path.replace('.', '/')}.md", ("",))
            value = None if value is None else split_front_matter(value)[1]
        return (
            None
            if value is None
            else indented(self.expanded(value.strip("\n"), depth - 1), margin_of(mark))
        )

    def _part(self, mark: re.Match[str], given: str, depth: int) -> str | None:
        """A text that several pages share, with the arguments that this one gives."""
        arguments = arguments_in(given)
        name = next((value for key, value in arguments if key in {"", "file", "src"}), "")
        names = [name] if "." in name.rsplit("/", 1)[-1] else [name, f"{name}.md", f"{name}.html"]
        text = next(
            (t for each in names if each and (t := self.files.text(each)) is not None), None
        )
        if text is None:
            return None
        given_by_name = dict(arguments)
        body = PARAMETER.sub(
            lambda each: given_by_name.get(each[1].lower(), ""), split_front_matter(text)[1]
        )
        return indented(self.expanded(body.strip("\n"), depth - 1), margin_of(mark))

    def _file(self, named: str, depth: int, *, in_code: bool) -> str | None:
        """A file or a part of it: pages as text, everything else as it stands."""
        path, wanted = path_and_part(named)
        text = self.files.text(path)
        if text is None:
            return None
        lines = part_of(text, wanted)
        body = "\n".join(lines).strip("\n")
        if in_code or suffix_of(path) not in IN_PROSE:
            return body
        return self.expanded(split_front_matter(body)[1].strip("\n"), depth - 1)

    def _partial(self, path: str, tag: re.Match[str], depth: int) -> str | None:
        """An imported page as its component shows it, with the properties given to it."""
        real = self.files.partial(path)
        text = None if real is None else read_text(real, *stamp(real))
        if real is None or text is None:
            return None
        inner = replace(self, files=self.files.beside(real))
        body = inner.expanded(split_front_matter(text)[1].strip("\n"), depth - 1)
        body = in_prose(body, lambda prose: without_modules(with_properties(prose, tag["given"])))
        margin = margin_of(tag)
        if not is_alone(tag):
            return indented(body.strip(), margin)
        return f"\n{margin}{indented(body.strip(), margin)}\n"

    def _listing(self, named: str) -> str | None:
        """A file of code as a block of code: FastAPI's `{* file.py ln[1:5] hl[2] *}`."""
        words = named.split()
        path, wanted = path_and_part(words[0]) if words else ("", "")
        if wanted.startswith("{"):
            wanted = ""
        text = self.files.text(path.split("{")[0].split("#")[0])
        if text is None:
            return None
        ranges = [w[3:-1] for w in words[1:] if w.startswith("ln[") and w.endswith("]")]
        lines: Sequence[str] = text.split("\n")
        if ranges:
            lines = [line for each in ranges[0].split(",") for line in numbered(lines, each)]
        elif wanted:
            lines = part_of(text, wanted)
        code = "\n".join(lines).strip("\n")
        language = suffix_of(path)
        if "```" in code:
            return None
        return f"```{LANGUAGES.get(language, language)}\n{code}\n```"


def in_prose(text: str, change: Callable[[str], str]) -> str:
    """The text with its prose changed and its code as it is."""
    held: list[str] = []

    def hold(code: re.Match[str]) -> str:
        held.append(code[0])
        return f"\ue000{len(held) - 1}\ue001"

    prose = change(with_code_replaced(text.replace("\ue000", ""), hold))
    return HELD.sub(lambda match: held[int(match[1])], prose)


def is_alone(mark: re.Match[str]) -> bool:
    """Whether a mark has its line for itself."""
    start = mark.string.rfind("\n", 0, mark.start()) + 1
    end = mark.string.find("\n", mark.end())
    line_end = len(mark.string) if end < 0 else end
    return not (
        mark.string[start : mark.start()].strip() or mark.string[mark.end() : line_end].strip()
    )


def margin_of(mark: re.Match[str]) -> str:
    """The white space before a mark that begins its line."""
    start = mark.string.rfind("\n", 0, mark.start()) + 1
    before = mark.string[start : mark.start()]
    return before if before.isspace() else ""


def indented(text: str, margin: str) -> str:
    """Text below the margin of the mark that it stands for."""
    if not margin or "\n" not in text:
        return text
    first, _, rest = text.partition("\n")
    return f"{first}\n{textwrap.indent(rest, margin)}"


def suffix_of(path: str) -> str:
    name = path.rsplit("/", 1)[-1]
    return name.rsplit(".", 1)[1].lower() if "." in name else ""


def path_and_part(named: str) -> tuple[str, str]:
    """`main.rs:2:10` and `main.rs:setup`: a file, and which of its lines."""
    match = SECTION.fullmatch(named)
    return (match[1], match[2] or "") if match else (named, "")


def part_of(text: str, wanted: str) -> Sequence[str]:
    """The lines of a file that are wanted, by number or by the marks that name them in it."""
    lines = text.split("\n")
    if not wanted:
        return [line for line in lines if ANCHOR_LINE.search(line) is None]
    if re.fullmatch(r"[\d:,-]+", wanted):
        return numbered(lines, wanted.replace(",", ":"))
    starts = (f"ANCHOR: {wanted}", f"--8<-- [start:{wanted}]", f"#region {wanted}")
    ends = (f"ANCHOR_END: {wanted}", f"--8<-- [end:{wanted}]", "#endregion")
    first = next(
        (at for at, line in enumerate(lines) if line.rstrip(" */->").endswith(starts)), None
    )
    if first is None:
        return []
    last = next(
        (at for at in range(first + 1, len(lines)) if any(e in lines[at] for e in ends)), len(lines)
    )
    return [line for line in lines[first + 1 : last] if ANCHOR_LINE.search(line) is None]


def numbered(lines: Sequence[str], wanted: str) -> Sequence[str]:
    """Lines by number, from 1: `3`, `2:10`, `:4`, `7:`."""
    first, colon, last = wanted.partition(":")
    start = int(first) if first.isdigit() and len(first) < 9 else 1
    if not colon:
        return lines[start - 1 : start]
    end = int(last) if last.isdigit() and len(last) < 9 else len(lines)
    return lines[max(0, start - 1) : end]
