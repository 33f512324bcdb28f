"""Marks of site generators in Markdown: shortcodes, Liquid and Jinja tags, roles, attributes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from rag_core.ingestion.loaders.admonitions import KINDS, SILENT

Hold = Callable[[str], str]
"""Puts text where nothing touches it, and returns what stands for it."""

MARK = re.compile(
    r"\{\{(?P<escaped>[<%])/\*(?P<shown>(?:[^*]|\*(?!/))*+)\*/[>%]\}\}"
    r"|\{\{[<%]-?(?P<shortcode>(?:[^{}>%]|[>%](?!\}\}))*+)[>%]\}\}"
    r"|\{%[-~+]?(?P<tag>(?:[^{}%]|%(?!\})|\{\{[^{}]*+\}\})*+)%\}"
    r"|(?<![$=\\^_{])\{\{(?P<value>[^{}\n\\]*+)\}\}(?!\})"
    r"|(?P<silent>\{#(?=[\s-])[^#{}]*+#\}|<\?(?:[^<>?]|\?(?!>))*+\?>|\{\{#\w[^{}\n]*+\}\}"
    r"|\{!>?[^\n{}!]*+!\}|\{\*[ \t][^\n{}*]*+\*\}|^[ \t]*(?:-+8<-+[^\n]*+|<<<[ \t]*@?[\w./][^\n]*+)$)",
    re.MULTILINE,
)
"""Every part stops at the next brace, so that marks without end are passed in one go."""
RAW = (
    re.compile(r"\{%-?\s*(?:raw|verbatim)\s*-?%\}"),
    re.compile(r"\{%-?\s*end(?:raw|verbatim)\s*-?%\}"),
)
ARGUMENT = re.compile(
    r"(?:(?P<name>[\w-]+)\s*[=:]\s*)?(?:\"(?P<a>[^\"]*+)\"|'(?P<b>[^']*+)'|(?P<bare>[^\s\"',=|]+))"
)
HOLE = "\ue002"
"""Stands where a value was that nobody here knows, until the sentence around it is mended."""
LOGIC = {"if", "ifversion", "ifchanged", "unless", "case", "elsif", "elif", "else", "when"}
BRANCH = {"elsif", "elif", "else", "when"}
DROPPED = {
    "comment",
    "for",
    "tablerow",
    "macro",
    "schema",
    "style",
    "script",
    "javascript",
    "css",
    "set",
    "capture",
    "stylesheet",
}
OF_CODE = {"highlight", "code", "codeblock", "code-block", "sourcecode", "prism", "terminal"}
ADDRESS = {
    "link",
    "page",
    "ref",
    "relref",
    "post_url",
    "url",
    "doc",
    "static",
    "path",
    "absurl",
    "relurl",
}
WITHOUT_WORDS = {
    "octicon",
    "icon",
    "uswds_icon",
    "fa",
    "image",
    "img",
    "figure",
    "video",
    "youtube",
    "gist",
    "param",
    "include",
    "render",
    "data",
    "partial",
    "import",
    "assign",
    "layout",
    "extends",
    "block",
    "indented_data_reference",
}
"""Tags whose arguments are names for the generator."""
TITLES = ("title", "label", "header", "summary", "caption", "name", "text", "aria-label")
BASES = {
    "site.baseurl",
    "site.url",
    "base.baseurl",
    "baseurl",
    "base_url",
    "base_path",
    "site.base",
}
DEFAULT_EDITION = "fpt"
"""The edition that GitHub's documentation shows to who has chosen none."""
DEEPEST = 50
LINE_OF_HOLES = re.compile(
    rf"(?m)^[ \t]*(?:[-*+]|\d+[.)]|#+|\|)?[ \t|]*(?:\[?{HOLE}+\]?(?:\([^()\n]*\))?[ \t.,:|–-]*)+$\n?"
)
LINK = re.compile(rf"(!?)\[([^\[\]\n]*)\]\(([^()\n]*{HOLE}[^()\n]*)\)")
EMPTY_LINK = re.compile(r"!?\[[ \t]*\]\((?!#)[^()\n]*\)")
PAIR = re.compile(rf"\([ \t]*{HOLE}[ \t]*\)|\"{HOLE}\"|“{HOLE}”|(\*\*|__|\*|_|`){HOLE}\1")
BEFORE_STOP = re.compile(rf"[ \t]*{HOLE}+(?=[ \t,.;:!?)\n]|$)")
AFTER_GAP = re.compile(rf"(?:(?<=[ \t(])|^){HOLE}+[ \t]*", re.MULTILINE)
ROLE = re.compile(
    r"(?:\{([a-zA-Z][\w:.+-]*)\}|(?<![\w:]):([a-z][\w+-]*(?::[\w+-]+)?):)(?=\ue000(\d+)\ue001)"
)
TARGETED = re.compile(r"(.*?)\s*<([^<>]+)>", re.DOTALL)
ROLES_OF_WORDS = {
    "ref",
    "doc",
    "term",
    "guilabel",
    "menuselection",
    "abbr",
    "dfn",
    "any",
    "numref",
    "eq",
    "download",
    "index",
    "sub",
    "sup",
    "std:ref",
    "std:doc",
    "std:term",
}
ROLES_OF_NOTHING = {
    "cite",
    "cite:p",
    "cite:t",
    "cite:ps",
    "cite:ts",
    "footcite",
    "octicon",
    "fas",
    "far",
    "fab",
    "bdg",
}
ROLES = (
    ROLES_OF_WORDS
    | ROLES_OF_NOTHING
    | {
        "class",
        "func",
        "meth",
        "mod",
        "attr",
        "data",
        "exc",
        "obj",
        "const",
        "kbd",
        "command",
        "file",
        "envvar",
        "option",
        "program",
        "code",
        "math",
        "pep",
        "rfc",
        "samp",
    }
)
"""Between colons, where a smiley may stand as well, only these are roles."""
LABEL = re.compile(r"(?m)^[ \t]*\([\w:./-]+\)=[ \t]*$\n?")
ATTRIBUTES = re.compile(r"(?<=[)\]])\{[ \t]*(?:[\w-]+=|[.#])[^{}\n]*\}")
ANCHOR = re.compile(r"(?m)^(?![ \t]*#)(.*?)[ \t]*\{#[\w:.-]+\}")
AUTODOC = re.compile(r"(?m)^:::[ \t]+([\w]+(?:\.\w+)+)[ \t]*$(?:\n[ \t]+\S[^\n]*)*")


@dataclass(slots=True)
class Frame:
    """A paired tag while its end is looked for, with the branches of a condition."""

    name: str
    arguments: str
    is_block: bool
    parts: list[str] = field(default_factory=list)
    branches: list[tuple[str, str]] = field(default_factory=list)

    def branch(self, condition: str) -> None:
        """Begin another branch."""
        self.branches.append((self.arguments, "".join(self.parts)))
        self.arguments, self.parts = condition, []


def has_templates(prose: str) -> bool:
    """Whether there is anything here for `without_templates` to do."""
    return (
        "{" in prose
        or "<?" in prose
        or "8<-" in prose
        or "<<<" in prose
        or ")=" in prose
        or ":\ue000" in prose
        or "::: " in prose
    )


def without_templates(prose: str, hold: Hold, restored: Callable[[str], str]) -> str:
    """Text as the site shows it, as far as the file alone tells; values from elsewhere leave a hole
    that `mended` closes."""
    prose = with_raw_held(prose, hold)
    prose = without_roles(prose, restored)
    if "::: " in prose:
        prose = AUTODOC.sub(lambda match: hold(f"`{match[1]}`"), prose)
    if "=" in prose:
        prose = LABEL.sub("", prose)
    if "{" not in prose and "<?" not in prose and "8<-" not in prose and "<<<" not in prose:
        return prose
    prose = "".join(rendered(prose, hold, restored))
    return ANCHOR.sub(r"\1", ATTRIBUTES.sub("", prose)) if "{" in prose else prose


def with_raw_held(prose: str, hold: Hold) -> str:
    """Text between `raw` and `endraw` is shown as it stands."""
    opening, closing = RAW
    parts: list[str] = []
    end = 0
    while (first := opening.search(prose, end)) and (last := closing.search(prose, first.end())):
        shown = prose[first.end() : last.start()]
        parts += (prose[end : first.start()], hold(shown) if "{" in shown else shown)
        end = last.end()
    return "".join([*parts, prose[end:]])


def without_roles(prose: str, restored: Callable[[str], str]) -> str:
    """Roles of Sphinx and MyST: the words that a reader sees of them."""

    if "}\ue000" not in prose and ":\ue000" not in prose:
        return prose
    parts: list[str] = []
    end = 0
    for match in ROLE.finditer(prose):
        name = (match[1] or match[2]).lower()
        if match[2] and name not in ROLES and ":" not in name:
            continue
        placed = f"\ue000{match[3]}\ue001"
        inner = restored(placed).strip("`").strip()
        targeted = TARGETED.fullmatch(inner)
        words = targeted[1] if targeted and targeted[1] else inner
        if name in ROLES_OF_NOTHING or name.startswith("bdg"):
            written = ""
        elif name in ROLES_OF_WORDS:
            written = (
                words.lstrip("!")
                if targeted or " " in words
                else words.lstrip("!~/").replace("-", " ")
                if name in {"ref", "numref"}
                else words
            )
        elif targeted:
            written = f"`{words}`"
        else:
            written = placed
        parts += (prose[end : match.start()], written)
        end = match.end() + len(placed)
    return "".join([*parts, prose[end:]])


def rendered(prose: str, hold: Hold, restored: Callable[[str], str]) -> Iterator[str]:
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
            close(stack, name.removeprefix("/" if name[0] == "/" else "end"), hold, restored)
        elif name in BRANCH and stack[-1].name in LOGIC:
            stack[-1].branch(f"{name} {arguments}")
        else:
            stack[-1].parts.append(single(mark, name, arguments, is_block, hold, prose))
    stack[-1].parts.append(prose[end:])
    while len(stack) > 1:
        close(stack, stack[-1].name, hold, restored)
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
        elif name and open_ends[name] > 0:
            open_ends[name] -= 1
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
    start = prose.rfind("\n", 0, mark.start()) + 1
    end = prose.find("\n", mark.end())
    after = prose[mark.end() : end if end >= 0 else len(prose)]
    return not prose[start : mark.start()].strip() and not after.strip()


def close(stack: list[Frame], name: str, hold: Hold, restored: Callable[[str], str]) -> None:
    """End the innermost tag of this name; an end without a beginning is passed over."""
    if all(frame.name != name for frame in stack[1:]):
        return
    while len(stack) > 1:
        frame = stack.pop()
        stack[-1].parts.append(whole(frame, hold, restored))
        if frame.name == name:
            return


def whole(frame: Frame, hold: Hold, restored: Callable[[str], str]) -> str:
    """What a reader sees of a paired tag and of what it holds."""
    inner = "".join(frame.parts)
    if frame.name in LOGIC:
        frame.branch("")
        return shown_branch(frame)
    if frame.name in DROPPED:
        return "" if frame.name not in {"for", "tablerow"} or HOLE in inner else inner
    if frame.name in OF_CODE and (frame.is_block or "\n" in inner):
        code = restored(inner).strip("\n")
        language = next((a for n, a in arguments_in(frame.arguments) if not n), "")
        block = f"```{language}\n{code}\n```"
        return f"\n\n{hold(block)}\n\n" if code.strip() else ""
    title = title_of(frame.name, frame.arguments)
    if not frame.is_block:
        return inner
    return f"\n\n**{title}**\n\n{inner}\n\n" if title else f"\n\n{inner}\n\n"


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
    words = condition.replace("elsif", " ").replace("elif", " ").split()
    editions = {"fpt", "ghec", "ghes", "ghae"}
    if not words or not editions & set(words) or words[0] == "else":
        return None
    alternatives = " ".join(words).split(" or ")
    return any(
        DEFAULT_EDITION in each.split()
        if "not" not in each.split()
        else DEFAULT_EDITION not in each.split()
        for each in alternatives
    )


def single(
    mark: re.Match[str], name: str, arguments: str, is_block: bool, hold: Hold, prose: str
) -> str:
    """What a reader sees of a mark that stands by itself."""
    if mark["escaped"] is not None:
        ends = ">" if mark["escaped"] == "<" else "%"
        return hold(f"{{{{{mark['escaped']}{mark['shown']}{ends}}}}}")
    if mark["silent"] is not None:
        return "" if is_block else HOLE
    if mark["value"] is not None:
        value = mark["value"].strip().split("|")[0].strip()
        literal = re.fullmatch(r"\"([^\"]*)\"|'([^']*)'", value)
        if literal:
            return literal[1] or literal[2] or ""
        return "" if value.lower() in BASES else HOLE
    spoken = spoken_of(name, arguments, is_block, prose[mark.end() : mark.end() + 4])
    if spoken and is_block:
        return f"\n{spoken}\n"
    return spoken or ("" if is_block else HOLE)


def spoken_of(name: str, arguments: str, is_block: bool, following: str) -> str:
    """The words in a tag that are for readers."""
    found = arguments_in(arguments)
    if name in ADDRESS:
        return next((value for key, value in found if key in {"", "path", "src", "href"}), "")
    named = dict(found)
    words = next((named[key] for key in TITLES if key in named and not is_path(named[key])), "")
    if name in WITHOUT_WORDS:
        words = named.get("caption") or named.get("title") or named.get("aria-label", "")
        return "" if following.lstrip(" \t").startswith("**") else words
    address = next((named[key] for key in ("url", "link", "href") if key in named), "")
    if words:
        about = named.get("description", "")
        words = f"[{words}]({address})" if address else words
        return f"{words}: {about}" if about else words
    quoted = [value for key, value in found if not key and not is_path(value)]
    return quoted[-1] if quoted and not is_block and re.search(r"[\"']", arguments) else ""


def title_of(name: str, arguments: str) -> str:
    """What stands above the text of a paired tag: its title, else what it is."""
    found = arguments_in(arguments)
    named = dict(found)
    for key in TITLES:
        if named.get(key, "").strip() and not is_path(named[key]):
            return named[key].strip().replace("*", "")
    for key, value in found:
        if (
            key in {"", "type", "kind", "level", "class", "color"}
            and value.lower() in KINDS - SILENT
        ):
            name = value
        elif (
            not key
            and value.strip()
            and (name in {"tab", "details", "expand", "accordion"} or " " in value)
        ):
            return value.strip().replace("*", "")
    return name.capitalize() if name.lower() in KINDS - SILENT else ""


def arguments_in(text: str) -> list[tuple[str, str]]:
    """Arguments by name, those without one by the empty name."""
    found = []
    for match in ARGUMENT.finditer(text):
        value = next((v for v in (match["a"], match["b"], match["bare"]) if v is not None), "")
        found.append(((match["name"] or "").lower(), value))
    return found


def is_path(value: str) -> bool:
    """Whether an argument names a file or an address and not a thing for readers."""
    return bool(re.fullmatch(r"\S*[/.]\S+|[#.]\S*", value.strip()))


def mended(prose: str) -> str:
    """The text without its holes: lines that held nothing else, links that lead nowhere, gaps."""
    if HOLE not in prose:
        return prose
    prose = LINK.sub(linked_words, prose)
    prose = LINE_OF_HOLES.sub("", prose)
    prose = PAIR.sub(HOLE, prose)
    return AFTER_GAP.sub("", BEFORE_STOP.sub("", prose)).replace(HOLE, "")


def linked_words(link: re.Match[str]) -> str:
    """A link whose address is known in part: only its words stay."""
    return link[2]
