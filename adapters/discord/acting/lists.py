"""What the house tells its admins, as lines of a message."""

from __future__ import annotations

import re
from collections.abc import Sequence

from adapters.discord.answering.links import place_link
from adapters.discord.answering.markdown import to_discord_markdown
from adapters.discord.wording import escaped, link_target, on_one_line
from adapters.excerpts import one_line
from adapters.steward import Finding, GapLine
from rag_core.books.book import Book
from rag_core.ingestion.job import IngestionJob

MAX_LINE = 300
MAX_FINDING = 900
OWN_PAGE = re.compile(r"(https://discord\.com/[^\s<>`]*[^\s<>`.,;:)])")
HELP_TEXT = """\
**Ask me about the documents of this server.** Every answer has footnotes that lead to its sources.
- Mention me in a channel, or write to me directly; in my threads you need no mention.
- `/ask` asks with a command, privately if you like; `/lookup` shows passages as they stand.
- In a message's menu, under Apps: *Answer this from the docs*.
- Edit your question and I answer anew; delete it or write “never mind” and the answer goes too.
- `/footnote mute` keeps me quiet in a thread; `/footnote profile` tells me what you have and know.
- `/footnote forget-me` removes what I have stored of you."""
ADMIN_HELP = """
**For admins:** `/footnote books`, `settings`, `doctor`, `jobs`, `gaps`."""
NO_BOOKS = "There is no book yet: an operator makes one with `footnote ingest`."
NO_JOBS = "Nothing was read yet."
NO_GAPS = "Nothing was asked here in vain."


def books(known: Sequence[Book]) -> str:
    lines = [f"- `{book.book_id}` {shown(book.title)}" for book in known]
    return "\n".join(lines) or NO_BOOKS


def jobs(last: Sequence[IngestionJob]) -> str:
    return "\n".join(map(job, last)) or NO_JOBS


def job(run: IngestionJob) -> str:
    begun = f"<t:{int(run.started_at.timestamp())}:R>"
    files = f"{run.files_processed} read, {run.files_skipped} skipped, {run.files_failed} failed"
    why = f": {shown(run.error_message)}" if run.error_message else ""
    return f"- `{run.book_id}` {run.status.value} {begun}: {files}{why}"


def gaps(asked: Sequence[GapLine]) -> str:
    return "\n".join(map(gap, asked)) or NO_GAPS


def gap(line: GapLine) -> str:
    near = line.nearest
    place = place_link(near.page_title, near.section_heading, near.page_url) if near else ""
    return f"- {line.count}× {shown(line.example)}" + (f" (near {place})" if place else "")


def findings(found: Sequence[Finding]) -> str:
    """What is missing comes first, then what should be looked at."""
    order = sorted(found, key=lambda each: (each.in_place, not each.is_warning))
    return "\n".join(map(finding, order))


def finding(found: Finding) -> str:
    sign = ("⚠️" if found.is_warning else "✅") if found.in_place else "❌"
    advice = f" → {found.advice}" if found.advice and found.needs_attention else ""
    text = one_line(found.detail + advice, MAX_FINDING)
    return f"{sign} **{on_one_line(found.name)}** {with_own_links(text)}"


def with_own_links(text: str) -> str:
    """A sentence of ours; what leads to Discord's own pages can be clicked."""
    pieces = OWN_PAGE.split(" ".join(text.split()))
    return "".join(
        f"<{link_target(piece)}>" if place % 2 else sentence(piece)
        for place, piece in enumerate(pieces)
    )


def sentence(text: str) -> str:
    """Words with code, and with nothing that takes effect; the space around them stays."""
    shown = to_discord_markdown(text)
    return f"{' ' * text.startswith(' ')}{shown}{' ' * text.endswith(' ')}" if shown else " "


def shown(text: str) -> str:
    return escaped(one_line(text, MAX_LINE))
