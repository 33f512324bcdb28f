"""What Discord's clients make live in a message: links, mentions, pings, times, emoji.

Discord's Markdown goes back to simple-markdown: rules are tried in order at each place of the text,
block quotes, lists and headings at the beginning of a line, and what a rule takes is read again
inside. Code ends at the next fence or run of backticks, wherever that stands. Clients differ in
details, so a message is read in several ways, and what is live in any of them counts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

CODE = "\ue000"
"""Stands where code stood."""
BULLET = r"(?:[*+-]|\d+\.)"
FENCE = re.compile(r"```(?:[a-z0-9_+\-.#]+?\n+)?\n*([^\n][\s\S]*?)\n*```", re.IGNORECASE)
FENCE_OF_ANY = re.compile(r"```(?:[\w+\-.]*\s*\n)?([^\n].*?)\n*```", re.DOTALL)
INLINE_CODE = re.compile(r"(`+)([\s\S]*?[^`])\1(?!`)")
SHORTEST_CODE = re.compile(r"(``?)(.*?)\1", re.DOTALL)
ESCAPE = re.compile(r"\\[^0-9A-Za-z\s]")
QUOTE_TO_THE_END = re.compile(r" *>>> ?([\s\S]+)")
QUOTED_LINES = re.compile(r" *> [^\n]*(?:\n *> [^\n]*)*\n?")
QUOTED_LINE = re.compile(r" *>(?!>>) ?[^\n]+\n?")
LOOSE_LIST = re.compile(rf"( *){BULLET} [\s\S]+?(?:\n{{2,}}(?! )(?!\1{BULLET} )\n*|\s*\n*\Z)")
TIGHT_LIST = re.compile(rf"( *){BULLET} +[^\n]+(?:\n\1 {{2}}[^\n]+)*\n?")
ITEM = re.compile(rf"^ *{BULLET} +", re.MULTILINE)
HEADING = re.compile(r"(?:#{1,3}|-#) +[^\n]+(?:\n|\Z)")
NO_SIGN = re.compile(r"[^\\`*_~|\n]+")
MARKED = (
    re.compile(r"(\*\*)([\s\S]+?)\*\*(?!\*)"),
    re.compile(r"(__)([\s\S]+?)__(?!_)"),
    re.compile(r"(~~)([\s\S]+?)~~(?!_)"),
    re.compile(r"(\|\|)([\s\S]+?)\|\|"),
    re.compile(r"(\*)(?=\S)((?:\*\*|\\[\s\S]|\s+(?:\\[\s\S]|[^\s*\\]|\*\*)|[^\s*\\])+?)\*(?!\*)"),
    re.compile(r"(_)((?:__|\\[\s\S]|[^\\_])+?)_(?!\w)"),
)
STRONG_WITH_ESCAPES = re.compile(r"(\*\*)((?:\\[\s\S]|[^\\])+?)\*\*(?!\*)")

ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[^\s<>]+", re.IGNORECASE)
LIVE = {
    "masked link": re.compile(r"\]\(\s*<?[a-z][a-z0-9+.-]*:[^)]*\)?", re.IGNORECASE),
    "angle link": re.compile(
        r"<(?:[a-z][a-z0-9+.-]*:[^\s<>]+|\+?\d{5,}|[^\s<>@]+@[^\s<>@]+\.[^\s<>@]+)>", re.IGNORECASE
    ),
    "mention": re.compile(r"<(?:@[!&]?|#)\d+>"),
    "ping": re.compile(r"@(?:everyone|here)", re.IGNORECASE),
    "command": re.compile(r"</[^<>:\n]+:\d+>"),
    "time": re.compile(r"<t:-?\d+(?::\w)?>", re.IGNORECASE),
    "emoji": re.compile(r"<a?:\w+:\d+>", re.IGNORECASE),
    "place": re.compile(r"<(?:id:\w+|\d+:[\w-]+(?::\d+)?)>", re.IGNORECASE),
}


@dataclass(frozen=True)
class Reading:
    """One way to read a message."""

    fence: re.Pattern[str]
    code: re.Pattern[str]
    quotes: re.Pattern[str] | None
    lists: re.Pattern[str] | None
    strong: re.Pattern[str]


READINGS = (
    Reading(FENCE, INLINE_CODE, QUOTED_LINES, LOOSE_LIST, STRONG_WITH_ESCAPES),
    Reading(FENCE_OF_ANY, SHORTEST_CODE, QUOTED_LINE, TIGHT_LIST, MARKED[0]),
    Reading(FENCE, SHORTEST_CODE, QUOTED_LINES, TIGHT_LIST, MARKED[0]),
    Reading(FENCE_OF_ANY, INLINE_CODE, None, None, STRONG_WITH_ESCAPES),
)


def live_in(message: str, allowed: Collection[str] = ()) -> list[str]:
    """What a reader could click or would be called by, but for links to the allowed addresses."""
    for target in allowed:  # a link is taken as a whole where it begins
        message = message.replace(f"](<{target}>)", "]").replace(f"<{target}>", "")
    found: dict[str, None] = {}
    for reading in READINGS:
        prose = "".join(prose_of(message, reading))
        found |= dict.fromkeys(live_in_prose(prose))
    return list(found)


def live_in_prose(prose: str) -> Iterator[str]:
    for address in ADDRESS.findall(prose):
        yield f"address {address}"
    for kind, pattern in LIVE.items():
        for found in pattern.finditer(prose):
            yield f"{kind} {found.group()}"


def prose_of(
    source: str, reading: Reading, *, quoted: bool = False, depth: int = 0
) -> Iterator[str]:
    """The source without its code."""
    place, line_begins = 0, True
    while place < len(source):
        block = block_at(source, place, reading, quoted) if line_begins and depth < 12 else None
        if block is not None:
            end, inside, in_quote = block
            for piece in inside:
                yield from prose_of(piece, reading, quoted=in_quote, depth=depth + 1)
                yield "\n"
            place = end
            continue
        if not line_begins and (run := NO_SIGN.match(source, place)):
            yield run.group()
            place = run.end()
            continue
        end, pieces = inline_at(source, place, reading, quoted, depth)
        yield from pieces
        taken = source[place:end]
        after = taken.rpartition("\n")[2]
        line_begins = not after.strip(" ") and (line_begins or "\n" in taken)
        place = end


def block_at(
    source: str, place: int, reading: Reading, quoted: bool
) -> tuple[int, list[str], bool] | None:
    """What a rule for the beginning of a line takes: its end, what is read inside."""
    if not quoted and reading.quotes is not None:
        if found := QUOTE_TO_THE_END.match(source, place):
            return found.end(), [found[1]], True
        if found := reading.quotes.match(source, place):
            return found.end(), [re.sub(r"^ *> ?", "", found[0], flags=re.MULTILINE)], True
    if reading.lists is not None and (found := reading.lists.match(source, place)):
        return found.end(), [piece for piece in ITEM.split(found[0]) if piece], quoted
    if found := HEADING.match(source, place):
        return found.end(), [found[0].lstrip("#- ")], quoted
    return None


def inline_at(
    source: str, place: int, reading: Reading, quoted: bool, depth: int
) -> tuple[int, Iterator[str]]:
    if found := ESCAPE.match(source, place):
        return found.end(), iter([found[0]])
    for rule in (reading.fence, reading.code):
        found = rule.match(source, place)
        if found and (rule is FENCE or re.search("[^`]", found[found.re.groups])):
            return found.end(), iter([CODE])
    for rule in (reading.strong, *MARKED[1:]) if depth < 12 else ():
        if found := rule.match(source, place):
            inside = prose_of(found[2], reading, quoted=quoted, depth=depth + 1)
            return found.end(), (
                piece for part in ([found[1]], inside, [found[1]]) for piece in part
            )
    return place + 1, iter([source[place]])
