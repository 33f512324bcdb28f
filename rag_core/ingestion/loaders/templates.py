"""Template marks in Markdown: shortcodes of Hugo, tags and values of Liquid, Jinja and the like."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from rag_core.ingestion.loaders.holes import HOLE
from rag_core.ingestion.loaders.labels import TAB, labelled
from rag_core.ingestion.loaders.tag_words import arguments_in, spoken, title_of

Hold = Callable[[str], str]
"""Puts text where nothing touches it, and returns what stands for it."""

MARK = re.compile(
    r"\{\{(?P<escaped>[<%])/\*(?P<shown>(?:[^*{}]|\*(?!/))*+)\*/[>%]\}\}"
    r"|\{\{[<%]-?(?P<shortcode>(?:[^{}>%]|[>%](?!\}\}))*+)[>%]\}\}"
    r"|\{%[-~+]?(?P<tag>(?:[^{}%]|%(?!\})|\{\{[^{}]*+\}\})*+)%\}"
    r"|(?<![$=\\^_{])\{\{(?P<value>[^{}\n\\]*+)\}\}(?![{}])"
    r"|(?P<silent>\{#(?=[\s-])[^#{}]*+#\}|<\?(?:[^<>?]|\?(?!>))*+\?>|\{\{#\w[^{}\n]*+\}\}"
    r"|\{!>?[^\n{}!]*+!\}|\{\*[ \t][^\n{}*]*+\*\}"
    r"|^[ \t]*(?:-+8<-+[^\n]*+|<<<[ \t]*@?[\w./][^\n]*+)$)",
    re.MULTILINE,
)
"""Every part stops at the next brace, so that marks without end are passed in one go."""
RAW = (
    re.compile(r"\{%-?\s*(?:raw|verbatim)\s*-?%\}"),
    re.compile(r"\{%-?\s*end(?:raw|verbatim)\s*-?%\}"),
)
OF_CODE = "highlight|code|codeblock|code-block|prism|sourcecode|terminal"
CODE = (
    re.compile(
        rf"\{{(?:%-?|\{{[<%])\s*(?:{OF_CODE})(?=[\s>%])([^{{}}\n]*?)(?:-?%|[>%]\}})\}}(?=[ \t]*\n)"
    ),
    re.compile(rf"\{{(?:%-?\s*end|\{{[<%]\s*/\s*)(?:{OF_CODE})\s*(?:-?%|[>%]\}})\}}"),
)
LOGIC = {"if", "ifversion", "ifchanged", "unless", "case"}
CLOSED_BY = {"ifversion": "if"}
BRANCH = {"elsif", "elif", "else", "when"}
DROPPED = {
    "capture", "comment", "css", "for", "javascript", "macro", "schema", "script", "set", "style",
    "stylesheet", "tablerow",
}  # fmt: skip
LITERAL = re.compile(r"([\"'])([^\"']*)\1")
LOOPS = {"for", "tablerow"}
BASES = {
    "base.baseurl", "base_path", "base_url", "baseurl", "site.base", "site.baseurl", "site.url",
}  # fmt: skip
"""Values that stand before the address of a page of the same site."""
EDITIONS = {"fpt", "ghec", "ghes", "ghae"}
DEFAULT_EDITION = "fpt"
"""The edition that GitHub's documentation shows to who has chosen none."""
DEEPEST = 50
MARGIN = 200
"""Characters before and after a mark that are looked at for text on the same line."""


@dataclass(slots=True)
class Frame:
    """A paired tag while its end is looked for, with the branches of a condition."""

    name: str
    arguments: str
    is_block: bool
    parts: list[str] = field(default_factory=list)
    branches: list[tuple[str, str]] = field(default_factory=list)

    @property
    def closed_by(self) -> str:
        """What its end is called."""
        return CLOSED_BY.get(self.name, self.name)

    def branch(self, condition: str) -> None:
        """Begin another branch."""
        self.branches.append((self.arguments, "".join(self.parts)))
        self.arguments, self.parts = condition, []


def has_templates(prose: str) -> bool:
    """Whether there is anything here for `without_templates` to do."""
    return any(mark in prose for mark in ("{%", "{{", "{#", "{!", "{*", "<?", "8<-", "<<<"))


def without_templates(prose: str, hold: Hold) -> str:
    """Text as the site shows it, as far as the file alone tells; what comes from elsewhere leaves a
    hole in its sentence."""
    return "".join(rendered(with_raw_held(prose, hold), hold))


def with_raw_held(prose: str, hold: Hold) -> str:
    """Text between `raw` and `endraw` is shown as it stands, that of `highlight` as code."""
    opening, closing = RAW
    parts: list[str] = []
    end = 0
    while (first := opening.search(prose, end)) and (last := closing.search(prose, first.end())):
        shown = prose[first.end() : last.start()]
        parts += (prose[end : first.start()], hold(shown) if "{" in shown else shown)
        end = last.end()
    prose, parts, end = "".join([*parts, prose[end:]]), [], 0
    while (first := CODE[0].search(prose, end)) and (last := CODE[1].search(prose, first.end())):
        code = prose[first.end() : last.start()].strip("\n")
        language = next((value for key, value in arguments_in(first[1]) if not key), "")
        block = hold(f"```{language}\n{code}\n```") if code.strip() else ""
        parts += (prose[end : first.start()], f"\n\n{block}\n\n")
        end = last.end()
    return "".join([*parts, prose[end:]])


def rendered(prose: str, hold: Hold) -> Iterator[str]:
    """The text with its tags carried out, as far as they can be."""
    marks = list(MARK.finditer(prose))
    paired = pairs_in(marks)
    root = Frame("", "", is_block=True)
    stack = [root]
    end = 0
    for number, mark in enumerate(marks):
        is_block = is_alone(prose, mark)
        before = prose[end : mark.start()]
        stack[-1].parts.append(before.rstrip(" \t") if is_block else before)
        end = mark.end()
        name, arguments = name_of(mark)
        if number in paired:
            stack.append(Frame(name, arguments, is_block))
        elif name.startswith("/") or (mark["tag"] is not None and name.startswith("end")):
            close(stack, name.removeprefix("/" if name[0] == "/" else "end"))
        elif name in BRANCH and stack[-1].name in LOGIC:
            stack[-1].branch(f"{name} {arguments}")
        else:
            stack[-1].parts.append(single(mark, is_block=is_block, hold=hold))
    stack[-1].parts.append(prose[end:])
    while len(stack) > 1:
        close(stack, stack[-1].closed_by)
    yield from root.parts


def pairs_in(marks: list[re.Match[str]]) -> set[int]:
    """The numbers of the tags that have an end of their own."""
    open_ends: Counter[str] = Counter()
    paired: set[int] = set()
    for number in range(len(marks) - 1, -1, -1):
        mark = marks[number]
        name = name_of(mark)[0]
        if name.startswith("/"):
            open_ends[name[1:]] += 1
        elif mark["tag"] is not None and name.startswith("end"):
            open_ends[name[3:]] += 1
        elif name and open_ends[closed_by := CLOSED_BY.get(name, name)] > 0:
            open_ends[closed_by] -= 1
            paired.add(number)
    depth, kept = 0, set()
    for number, mark in enumerate(marks):
        name = name_of(mark)[0]
        if number in paired:
            depth += 1
            kept |= {number} if depth <= DEEPEST else set()
        elif name.startswith(("/", "end")):
            depth = max(0, depth - 1)
    return kept


def name_of(mark: re.Match[str]) -> tuple[str, str]:
    """A tag's name and its arguments; values and comments have no name."""
    text = mark["shortcode"] if mark["shortcode"] is not None else mark["tag"]
    if text is None:
        return "", ""
    words = text.strip().rstrip("-~+/ \t\n").split(None, 1)
    if not words:
        return "", ""
    name = words[0].lower()
    if name == "/" and len(words) > 1:
        return f"/{words[1].split()[0].lower()}", ""
    return name, words[1] if len(words) > 1 else ""


def is_alone(prose: str, mark: re.Match[str]) -> bool:
    """Whether a mark has its line for itself."""
    before = prose[max(0, mark.start() - MARGIN) : mark.start()]
    after = prose[mark.end() : mark.end() + MARGIN]
    is_first = before.rstrip(" \t").endswith("\n") or (not before.strip() and mark.start() < MARGIN)
    return is_first and after.lstrip(" \t")[:1] in {"", "\n"}


def close(stack: list[Frame], name: str) -> None:
    """End the innermost tag of this name; an end without a beginning is passed over."""
    if all(frame.closed_by != name for frame in stack[1:]):
        return
    while len(stack) > 1:
        frame = stack.pop()
        stack[-1].parts.append(whole(frame))
        if frame.closed_by == name:
            return


def whole(frame: Frame) -> str:
    """What a reader sees of a paired tag and of what it holds."""
    inner = "".join(frame.parts)
    if frame.name in LOGIC:
        frame.branch("")
        return shown_branch(frame)
    if frame.name in DROPPED:
        return "" if frame.name not in LOOPS or HOLE in inner else inner
    title = title_of(frame.name, frame.arguments)
    if not frame.is_block:
        return inner
    if title and TAB.match(frame.name):
        return f"\n\n**{title}**\n\n{inner}\n\n"
    return f"\n\n{labelled(title, inner) if title else inner}\n\n"


def shown_branch(frame: Frame) -> str:
    """Of a condition's branches the one that the site shows by default, else the first."""
    if len(frame.branches) == 1:
        return frame.branches[0][1]
    if frame.name == "case":
        return next((text for _, text in frame.branches[1:] if text.strip()), "")
    for condition, text in frame.branches:
        is_shown = holds(condition) if frame.name == "ifversion" else None
        if is_shown or condition.startswith("else"):
            return text
        if is_shown is None:
            break
    return frame.branches[0][1]


def holds(condition: str) -> bool | None:
    """Whether a condition on editions is met by the default one; unknown where it names others."""
    words = condition.split()
    if not EDITIONS & set(words):
        return None
    alternatives = [each.split() for each in " ".join(words).split(" or ")]
    return any((DEFAULT_EDITION in each) is ("not" not in each) for each in alternatives)


def single(mark: re.Match[str], *, is_block: bool, hold: Hold) -> str:
    """What a reader sees of a mark that stands by itself."""
    nothing = "" if is_block else HOLE
    if mark["escaped"] is not None:
        return hold(mark[0].replace("/*", "", 1).replace("*/", "", 1))
    if mark["silent"] is not None:
        return nothing
    if mark["value"] is not None:
        value = mark["value"].split("|")[0].strip(" -")
        literal = LITERAL.fullmatch(value)
        return literal[2] if literal else "" if value.lower() in BASES else nothing
    name, arguments = name_of(mark)
    following = mark.string[mark.end() : mark.end() + 4]
    words = spoken(name, arguments, is_block=is_block, following=following)
    return f"\n{words}\n" if words and is_block else words or nothing
