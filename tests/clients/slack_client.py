"""What Slack makes live in a message: links, bare addresses, mentions, pings.

`text` and sections are mrkdwn: what stands between `<` and `>` is a command wherever it stands,
three characters have entities, code begins and ends with backticks, and whatever looks like a web
or e-mail address outside of code becomes a link. A `markdown` block is Markdown as CommonMark has
it, with the same addresses and commands. Slack does not say how it reads code that is odd, so a
text is read in several ways, and what is live in any of them counts."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

CODE = "\ue000"
FENCED = re.compile(r"```[\s\S]*?```")
IN_LINE = re.compile(r"`[^`\n]+`")
RUNS = re.compile(r"(?<!`)(`+)(?!`)([\s\S]*?[^`])\1(?!`)")
CONTAINER = re.compile(r"^(?:[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t])))*[ \t]*")
OPENING = re.compile(r"(`{3,})[^`]*$|(~{3,})")
COMMAND = re.compile(r"<([^<>\n]+)>")
CALLING = re.compile(r"<(?:[@#][A-Z0-9]|!(?:channel|here|everyone|subteam|date))[^<>]*>?", re.I)
ANGLE_LINK = re.compile(r"<(?:[a-z][a-z0-9+.-]*://|mailto:|tel:)[^<>]*>", re.IGNORECASE)
LIVE = {
    "address": re.compile(r"[a-z][a-z0-9+.-]*://\S+|\bmailto:\S+|\btel:\+?\d\S+", re.IGNORECASE),
    "bare domain": re.compile(r"(?<![\w.-])[\w-]+(?:\.[\w-]+)*\.[^\W\d_]{2,}"),
    "e-mail": re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    "ping": re.compile(r"@(?:channel|here|everyone)\b", re.IGNORECASE),
}
MARKDOWN_LIVE = {
    "link": re.compile(r"\]\(\s*[^\s)]"),
    "definition": re.compile(r"^[ >]*\[[^\[\]\n]+\]:[ \t]*\S", re.MULTILINE),
    "autolink": re.compile(r"<(?:[a-z][a-z0-9+.-]+:[^\s<>]*|[^\s<>@]+@[^\s<>@]+)>", re.IGNORECASE),
    "command": CALLING,
    "tag": re.compile(r"<(?:a|img|iframe|script)\b[^<>]*>", re.IGNORECASE),
}


def live_in(message: Mapping[str, Any], allowed: Collection[str] = ()) -> list[str]:
    """What a reader could click or would be called by, in the text and in every block."""
    found = dict.fromkeys(live_in_mrkdwn(str(message.get("text") or ""), allowed))
    for text in texts_of(message.get("blocks") or []):
        match text["type"]:
            case "markdown":
                found |= dict.fromkeys(live_in_markdown(text["text"]))
            case "mrkdwn":
                found |= dict.fromkeys(live_in_mrkdwn(text["text"], allowed))
    return list(found)


def texts_of(node: Any) -> Iterator[Mapping[str, str]]:
    """Every text that a message holds, with how it is read."""
    if isinstance(node, Mapping):
        if node.get("type") in {"markdown", "mrkdwn", "plain_text"} and isinstance(
            node.get("text"), str
        ):
            yield node
        for inner in node.values():
            yield from texts_of(inner)
    elif isinstance(node, Sequence) and not isinstance(node, str):
        for inner in node:
            yield from texts_of(inner)


def live_in_mrkdwn(text: str, allowed: Collection[str] = ()) -> Iterator[str]:
    def judged(found: re.Match[str]) -> str:
        target, _, label = found[1].partition("|")
        commands.append(target)
        return label.replace(".", " ") if html.unescape(target) in allowed else found[0]

    commands: list[str] = []
    text = COMMAND.sub(judged, text)
    for target in commands:
        if html.unescape(target) not in allowed:
            yield f"command <{target}>"
    for prose in (without_code(text), without_code(text, lines=True)):
        yield from live_in_prose(html.unescape(prose))


def live_in_markdown(text: str) -> Iterator[str]:
    for kind, pattern in (("command", CALLING), ("angle link", ANGLE_LINK)):
        for found in pattern.finditer(text):
            yield f"{kind} {found[0]}"
    for prose in (without_code(text), commonmark_prose(text)):
        for shown in (prose, re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", prose)):
            yield from live_in_prose(html.unescape(shown))
        for kind, pattern in MARKDOWN_LIVE.items():
            for found in pattern.finditer(prose):
                if not escaped_at(prose, found.start()):
                    yield f"{kind} {found[0]}"


def escaped_at(text: str, place: int) -> bool:
    before = text[:place]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def live_in_prose(prose: str) -> Iterator[str]:
    for kind, pattern in LIVE.items():
        for found in pattern.finditer(prose):
            yield f"{kind} {found[0]}"


def without_code(text: str, *, lines: bool = False) -> str:
    """Backticks in pairs, three of them before one."""
    return IN_LINE.sub(CODE, RUNS.sub(CODE, text) if lines else FENCED.sub(CODE, text))


def commonmark_prose(text: str) -> str:
    """Fences by lines, whatever they stand in; runs of backticks of one length in a paragraph."""
    prose: list[str] = []
    fence = ""
    for line in text.split("\n"):
        bare = CONTAINER.sub("", line)
        if fence:
            if bare.rstrip().startswith(fence) and not bare.rstrip().strip(fence[0]):
                fence = ""
            continue
        if opening := OPENING.match(bare):
            fence = opening[1] or opening[2]
            prose.append("")
            continue
        prose.append(line)
    return "\n\n".join(RUNS.sub(CODE, paragraph) for paragraph in "\n".join(prose).split("\n\n"))
