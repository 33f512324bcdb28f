"""The tree of what may be shown → what Discord shows of it, and nothing that is live."""

from __future__ import annotations

import re

from adapters.chat_writing import ZERO_WIDTH_SPACE, ChatWriter, write_fence
from adapters.discord.wording import neutralise, without_angled_addresses
from adapters.splitting import split_blocks
from rag_core.text.reading import read_markdown
from rag_core.text.tree import Blocks, Inlines, Text

MARKUP = re.compile(r"[\\*_~|]")
LINE_BEGIN = re.compile(r"( *)(#{1,3}(?=\s)|-#|[-+](?=\s)|>|\d+(?=\.\s))(?P<dot>\.?)")
DEEPEST_HEADING = 3


class DiscordWriter(ChatWriter):
    """Discord's Markdown, which has no tables, three levels of headings and one kind of fence."""

    def write(self, blocks: Blocks) -> str:
        return without_angled_addresses(super().write(blocks))

    def words(self, text: Text) -> str:
        return neutralise(MARKUP.sub(r"\\\g<0>", text.text))

    def code(self, text: str) -> str:
        if "`" not in text:
            return f"`{text}`"
        if neutralise(text) != text:  # not all clients pair several backticks alike
            return f"`{text.replace('`', chr(39))}`"
        return f"`` {ZERO_WIDTH_SPACE.join(re.split('(?<=`)(?=`)', text))} ``"

    def fence(self, info: str, code: str) -> str:
        return write_fence(info, code)

    def emphasis(self, mark: str, inside: str) -> str:
        return f"{mark}{inside}{mark}"

    def heading(self, level: int, line: Inlines) -> str:
        return f"{'#' * min(level, DEEPEST_HEADING)} {self.line(line)}"

    def line_begin(self, line: str) -> str:
        found = LINE_BEGIN.match(line)
        if found is None:
            return line
        place = found.start("dot") if found["dot"] else found.end(1)
        return f"{line[:place]}\\{line[place:]}"


WRITER = DiscordWriter()


def to_discord_markdown(markdown: str) -> str:
    """A text for one message."""
    return WRITER.write(read_markdown(markdown))


def discord_parts(markdown: str, limit: int) -> list[str]:
    """A long text for several messages."""
    return list(split_blocks(WRITER, read_markdown(markdown), limit))
