"""Notes, tips and tabs of documentation sites as plain Markdown: their text under a bold title."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_core.ingestion.loaders.labels import END, LABEL, TAB, label, with_joined_labels

COLONS = re.compile(r"^([ \t]*)(:{3,})\s*([A-Za-z][\w-]*)?\s*(.*?)\s*$")
BANGS = re.compile(r"^([ \t]*)(?:!!!|\?\?\?\+?|===[!+]?)\s*(.*?)\s*$")
SLASHES = re.compile(r"^([ \t]*)/{3,}\s*(?:([\w-]+)\s*(?:\|\s*(.*?))?)?\s*$")
ALERT = re.compile(r"^([ \t]*>[ \t]*)\[!(\w+)\][-+]?[ \t]*(.*?)\s*$")
DIRECTIVE = re.compile(r"^([ \t]*)(`{3,}|~{3,}|:{3,})\{([\w-]+)\}\s*(.*?)\s*$")
OPTION = re.compile(r"^\s*:[\w-]+:(?:\s.*)?$")
FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})")
ATTRIBUTE = re.compile(r"[\w-]+=[\"']?|:::$")
KINDS = {
    "abstract", "admonition", "attention", "bug", "card", "caution", "check", "code-group",
    "challenge", "checklist", "danger", "deprecated", "details", "discussion", "dropdown", "error",
    "example", "exercise", "failure", "grid", "hint", "important", "info", "instructor",
    "keypoints", "note", "objectives", "prereq", "question", "questions", "quote", "seealso",
    "solution", "steps", "success", "summary", "tab", "tabs", "tip", "todo", "versionadded",
    "versionchanged", "warning",
}  # fmt: skip
SILENT = {"admonition", "card", "code-group", "details", "grid", "steps", "tab", "tabs"}
"""Kinds whose own name says nothing to a reader."""
OF_NOTHING = {
    "bibliography", "contents", "image", "include", "index", "literalinclude", "raw",
    "tableofcontents", "toctree", "video",
}  # fmt: skip
"""Directives that only speak to the generator of the site."""
OF_CODE = {"code", "code-block", "code-cell", "sourcecode", "ipython"}
DEEPEST = 20
"""Notes inside notes; what is nested deeper is nothing that people write."""
MARK = re.compile(r":::|!!!|\?\?\?|=== \"|///|\[!|```\{|~~~\{")


def without_admonitions(text: str) -> str:
    """The text with each mark of a note replaced by its title; what it holds is kept."""
    if MARK.search(text) is None:
        return text
    lines = text.replace(LABEL, "").replace(END, "").split("\n")
    return "\n".join(with_joined_labels(list(unfolded(lines))))


def unfolded(lines: list[str], deepest: int = DEEPEST) -> Iterator[str]:
    if not deepest:
        yield from lines
        return
    at = 0
    while at < len(lines):
        line = lines[at]
        if directive := DIRECTIVE.match(line):
            end = closing(lines, at, directive[2])
            yield from directive_lines(directive, lines[at + 1 : end], deepest - 1)
            at = end + 1
        elif fence := FENCE.match(line):
            end = closing(lines, at, fence[1])
            yield from lines[at : end + 1]
            at = end + 1
        elif (bang := BANGS.match(line)) and is_indented(lines, at, len(bang[1])):
            end = indented_end(lines, at, len(bang[1]))
            is_tab = line.lstrip().startswith("===")
            yield from titled(bang_title(bang[2]), bang[1], is_tab=is_tab)
            inside = [dedented(each, len(bang[1]) + 4) for each in lines[at + 1 : end]]
            yield from (f"{bang[1]}{each}".rstrip() for each in unfolded(inside, deepest - 1))
            yield END
            at = end
        else:
            yield from plain_line(line)
            at += 1


def plain_line(line: str) -> Iterator[str]:
    """A line by itself: the opening or the end of a note, the head of an alert, or text."""
    if (colons := COLONS.match(line)) and not colons[4].startswith("."):
        yield from titled(
            container_title(colons[3] or "", colons[4]),
            colons[1],
            is_tab=TAB.match(colons[3] or "") is not None,
            is_end=not (colons[3] or colons[4]),
        )
    elif (slashes := SLASHES.match(line)) and (not slashes[2] or slashes[2].lower() in KINDS):
        yield from titled(
            title_of(slashes[2] or "", slashes[3] or ""),
            slashes[1],
            is_tab=TAB.match(slashes[2] or "") is not None,
            is_end=not slashes[2],
        )
    elif alert := ALERT.match(line):
        yield label(alert[3] or alert[2].capitalize(), alert[1])
    else:
        yield line


def container_title(kind: str, rest: str) -> str:
    """What stands above a container between colons; of a kind that is not known, what it is called
    says nothing to a reader."""
    if kind.lower() in KINDS or not kind:
        return title_of(kind, rest)
    return "" if ATTRIBUTE.search(rest) or rest.startswith(":") else title_of("", rest)


def title_of(kind: str, rest: str) -> str:
    """A note's own title, else what it is."""
    named = re.sub(r"\{[^}]*\}", "", rest).strip().strip("[]").strip("\"'").strip()
    return named or ("" if kind.lower() in SILENT else kind.capitalize())


def bang_title(rest: str) -> str:
    """`note inline "Title"`: the words in quotes, else the kind."""
    quoted = re.search(r"[\"'](.*)[\"']", rest)
    if quoted:
        return quoted[1].strip()
    return title_of(rest.split(" ")[0], "")


def titled(
    title: str, margin: str = "", *, is_tab: bool = False, is_end: bool = False
) -> Iterator[str]:
    yield END if is_end else ""
    if title and is_tab:
        yield from (f"{margin}**{title.replace('*', '')}**", "")
    elif title:
        yield label(title, margin)


def directive_lines(head: re.Match[str], inside: list[str], deepest: int) -> Iterator[str]:
    """A directive of MyST: a note is unfolded, code stays code, others keep their text."""
    while inside and OPTION.match(inside[0]):
        inside = inside[1:]
    name = head[3].lower()
    if name in OF_NOTHING:
        return
    if name in OF_CODE:
        mark = head[2] if head[2][0] != ":" else "```"
        yield from (f"{head[1]}{mark}{head[4]}", *inside, f"{head[1]}{mark}")
        return
    is_tab = TAB.match(name) is not None
    yield from titled(title_of(name if name in KINDS else "", head[4]), is_tab=is_tab)
    yield from unfolded([dedented(line, len(head[1])) for line in inside], deepest)
    yield END


def closing(lines: list[str], at: int, mark: str) -> int:
    """The line that closes what this one opens, or the last."""
    for number in range(at + 1, len(lines)):
        line = lines[number].strip()
        if line.startswith(mark) and not line.strip(mark[0]):
            return number
    return len(lines) - 1


def is_indented(lines: list[str], at: int, margin: int) -> bool:
    """Whether the next line that is not blank belongs to this one."""
    following = next((line for line in lines[at + 1 :] if line.strip()), "")
    return depth(following) >= margin + 4


def indented_end(lines: list[str], at: int, margin: int) -> int:
    end = at + 1
    while end < len(lines) and (not lines[end].strip() or depth(lines[end]) >= margin + 4):
        end += 1
    return end


def depth(line: str) -> int:
    wide = line.expandtabs(4)
    return len(wide) - len(wide.lstrip())


def dedented(line: str, width: int) -> str:
    wide = line.expandtabs(4) if "\t" in line[:width] else line
    return wide[min(width, depth(wide)) :]
