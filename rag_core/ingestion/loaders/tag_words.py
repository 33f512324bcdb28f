"""What the arguments of a template tag say to a reader."""

from __future__ import annotations

import re

from rag_core.ingestion.loaders.admonitions import KINDS, SILENT

ARGUMENT = re.compile(
    r"(?:(?P<name>[\w-]+)\s*[=:]\s*)?"
    r"(?:\"(?P<a>[^\"]*+)\"|'(?P<b>[^']*+)'|(?P<bare>[^\s\"',=|]+))"
)
ADDRESSES = {
    "absurl", "doc", "link", "page", "path", "post_url", "ref", "relref", "relurl", "static", "url",
}  # fmt: skip
"""Tags that stand for the address of a page."""
WITHOUT_WORDS = {
    "assign", "block", "data", "extends", "fa", "figure", "gist", "icon", "image", "img", "import",
    "include", "indented_data_reference", "layout", "octicon", "param", "partial", "render",
    "uswds_icon", "video", "youtube",
}  # fmt: skip
"""Tags whose arguments without a name are names for the generator."""
TITLES = ("title", "label", "header", "summary", "caption", "name", "text", "aria-label")
OF_KIND = {"", "type", "kind", "level", "class", "color"}
TITLED_BY_POSITION = {"tab", "details", "expand", "accordion"}
NAMED = KINDS - SILENT


def spoken(name: str, arguments: str, *, is_block: bool, following: str) -> str:
    """The words of a tag that stands by itself."""
    found = arguments_in(arguments)
    named = dict(found)
    if name in ADDRESSES:
        return next((value for key, value in found if key in {"", "path", "src", "href"}), "")
    if name in WITHOUT_WORDS:
        words = named.get("caption") or named.get("title") or named.get("aria-label", "")
        return "" if following.lstrip(" \t").startswith("**") else words
    words = next((named[key] for key in TITLES if key in named and not is_path(named[key])), "")
    if words:
        address = next((named[key] for key in ("url", "link", "href") if key in named), "")
        words = f"[{words}]({address})" if address else words
        return f"{words}: {named['description']}" if named.get("description") else words
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
        if key in OF_KIND and value.lower() in NAMED:
            name = value
        elif not key and value.strip() and (name in TITLED_BY_POSITION or " " in value):
            return value.strip().replace("*", "")
    return name.capitalize() if name.lower() in NAMED else ""


def arguments_in(text: str) -> list[tuple[str, str]]:
    """Arguments by name, those without one by the empty name."""
    found = []
    for match in ARGUMENT.finditer(text):
        value = next((v for v in (match["a"], match["b"], match["bare"]) if v is not None), "")
        found.append(((match["name"] or "").lower(), value))
    return found


def is_path(value: str) -> bool:
    """Whether an argument names a file or an address and not a thing for readers."""
    return re.fullmatch(r"\S*[/.]\S+|[#.]\S*", value.strip()) is not None
