"""Text as Discord wants it: questions read, titles made, mentions and links made harmless."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote

from adapters.graphemes import safe_cut
from rag_core.text.visible import visible

MAX_TITLE = 100
MAX_URL = 1_000
NO_TITLE = "Question"
ZERO_WIDTH_SPACE = "\u200b"

USER = re.compile(r"<@!?(\d+)>")
ROLE = re.compile(r"<@&(\d+)>")
CALLS = re.compile(r"<@[!&]?\d+>")
"""A person or a role."""
CHANNEL = re.compile(r"<#(\d+)>")
EMOJI = re.compile(r"<a?(:\w+:)\d+>")
LIVE = re.compile(r"<(?=\S)|(?<!\w)@(?=\w)|@(?=everyone|here)|:(?=//)|\](?=\()", re.IGNORECASE)
"""The first sign of what Discord may show as a mention, a time, an emoji or a link; it knows all of
them behind a backslash, too."""
IN_ANGLES = re.compile(r"@(?=[^\s<>@]*>)")
"""An e-mail address between angles is a link."""
LEADS_TO_ADDRESS = re.compile(f"<{ZERO_WIDTH_SPACE}(?=[^ >]*@)")
"""The same where code or emphasis stands between the angles: only what was written shows it."""
FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
SENTENCE_GAP = re.compile(r"(?<=[.!?])[ \t]+|(?<=[。！？])|\n+")
ASKING_ENDS = ("?", "？")
MARKUP = re.compile(r"([\\*_~|<>])")
WEB_ADDRESS = re.compile(r"https?://[^\s/?#@\[\]\\<>]+(?:[/?#]|\Z)")
"""With a host and nothing else before its path: no name of a user, no brackets."""
MASS_MENTION = re.compile(r"@(?=everyone|here)", re.IGNORECASE)
BRACKETS = str.maketrans("[]`", "()'")
"""Discord pairs code marks wherever they stand, and loses a link whose words have square brackets,
escaped or not."""


def without_mention(text: str, user_id: int) -> str:
    """A message as it would read if we were not named in it."""
    return re.sub(rf"[ \t]*<@!?{user_id}>[ \t,:]*", " ", text).strip()


def with_names(text: str, names: Mapping[int, str]) -> str:
    """Mentions of people, roles and channels as words, emoji as their names."""

    def named(sign: str, found: re.Match[str]) -> str:
        return sign + names.get(int(found[1]), "somebody" if sign == "@" else "channel")

    text = USER.sub(lambda found: named("@", found), text)
    text = ROLE.sub(lambda found: named("@", found), text)
    text = CHANNEL.sub(lambda found: named("#", found), text)
    return EMOJI.sub(r"\1", text)


def the_question_in(text: str) -> str:
    """The sentence that asks, outside of code; without one, the first line that says something."""
    prose = FENCE.sub("\n", text)
    sentences = [each.strip() for each in SENTENCE_GAP.split(prose) if each.strip()]
    asking = (each for each in sentences if each.rstrip("\"')*_`").endswith(ASKING_ENDS))
    return next(asking, sentences[0] if sentences else text.strip())


def thread_title(question: str) -> str:
    """A question as the name of its thread: one line, 1 to 100 characters."""
    line = " ".join(visible(the_question_in(question)).split())
    if units(line) <= MAX_TITLE:
        return line or NO_TITLE
    cut = next(end for end in range(MAX_TITLE, 0, -1) if units(line[:end]) < MAX_TITLE)
    begun = line[: safe_cut(line, 0, cut)]
    words = begun.rsplit(" ", 1)[0]
    return (words if units(words) > MAX_TITLE // 2 else begun).rstrip() + "…"


def units(text: str) -> int:
    """A text's length as browsers count it: an emoji may be two."""
    return len(text.encode("utf-16-le", errors="replace")) // 2


def neutralise(text: str) -> str:
    """The same words, with nothing in them that takes effect."""
    return LIVE.sub(lambda found: found[0] + ZERO_WIDTH_SPACE, IN_ANGLES.sub("@ ", text))


def without_angled_addresses(written: str) -> str:
    """A written message with no e-mail address that an angle makes a link."""
    return LEADS_TO_ADDRESS.sub("< ", written)


def escaped(text: str) -> str:
    """Words of a document on one line, with no mark-up, mention or address that takes effect."""
    return on_one_line(text).replace("#", r"\#")


def on_one_line(text: str) -> str:
    """The same for words that do not begin their line."""
    line = " ".join(visible(text).split()).translate(BRACKETS)
    return MARKUP.sub(r"\\\1", neutralise(line))


def link_target(url: str | None) -> str | None:
    """An address that can stand in a link, or nothing."""
    if url is None or not WEB_ADDRESS.match(url):
        return None
    safe = quote(url, safe="!#$%&'*+,/:;=?@~", errors="replace")
    safe = MASS_MENTION.sub("%40", safe)
    return safe if len(safe) <= MAX_URL else None
