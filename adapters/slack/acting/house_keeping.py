"""/footnote: what the bot knows, what holds in a channel, what is missing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from adapters.slack.acting.typed import Reply, Typed, said
from adapters.slack.answering.blocks import sections
from adapters.slack.answering.markdown import escaped, link, to_mrkdwn
from adapters.slack.calling.people import People
from adapters.slack.config import CommandNames
from adapters.steward import Finding, GapLine, Steward
from rag_core.books.book import Book
from rag_core.books.policy import ChannelPolicy, Place
from rag_core.conversation.key import Platform, TenantId
from rag_core.errors import FootnoteError, InvalidQuestion
from rag_core.ingestion.job import IngestionJob

ADMINS_ONLY = "This is for admins of the workspace, and for people whom they made my admins."
NOT_NOW = "I could not look that up just now. Please try again in a minute."
FORGET_SURE = "forget me"
FORGOTTEN = "Done: what you asked here and its answers will be gone within a minute."
CHANNEL_HELP = (
    "Set with `{name} channel book ID`, `{name} channel auto on|off`,"
    " `{name} channel hints on|off`, `{name} channel tone WORDS`;"
    " `default` in place of a value takes the setting back."
)
SWITCH = {"on": True, "off": False, "default": None}

Answers = Callable[[Typed, list[str]], Awaitable[list[str]]]


class HouseCommand:
    """Lists and settings; who is no admin sees what concerns everybody."""

    def __init__(self, steward: Steward, *, names: CommandNames, people: People) -> None:
        self._steward = steward
        self._names = names
        self._people = people
        self._open: Mapping[str, Answers] = {
            "": self._help,
            "help": self._help,
            "books": self._books,
            "forget": self._forget,
        }
        self._for_admins: Mapping[str, Answers] = {
            "channel": self._channel,
            "doctor": self._doctor,
            "jobs": self._jobs,
            "gaps": self._gaps,
        }

    async def use(self, used: Typed) -> Reply:
        name, *words = used.text.split() or [""]
        answers = self._open.get(name.lower()) or self._for_admins.get(name.lower())
        if answers is None:
            return as_reply([f"I do not know “{escaped(name[:50])}”.", *await self._help(used, [])])
        if name.lower() in self._for_admins and not await self._people.is_admin(
            used.team_id, used.user_id
        ):
            return as_reply([ADMINS_ONLY])
        try:
            return as_reply(await answers(used, words))
        except InvalidQuestion as error:
            return as_reply([to_mrkdwn(error.message)])
        except FootnoteError:
            return as_reply([NOT_NOW])

    async def _help(self, used: Typed, words: list[str]) -> list[str]:
        house = self._names.house
        return [
            "Mention me, or write to me directly: I answer from the documents, with footnotes.",
            f"• `{self._names.ask} QUESTION` – an answer for you alone",
            f"• `{self._names.lookup} WORDS` – passages as they stand",
            f"• `{house} books` – what I know",
            f"• `{house} forget me` – removes what you asked here",
            f"• `{house} channel`, `doctor`, `jobs`, `gaps` – for admins",
        ]

    async def _books(self, used: Typed, words: list[str]) -> list[str]:
        books = await self._steward.books(place_of(used))
        return list(map(book_line, books)) or ["There is no book yet."]

    async def _forget(self, used: Typed, words: list[str]) -> list[str]:
        if words != ["me"]:
            return [f"Write `{self._names.house} {FORGET_SURE}` to have what you asked removed."]
        await self._steward.forget(
            platform=Platform.SLACK, tenant=TenantId(used.team_id), asker_id=used.user_id
        )
        return [FORGOTTEN]

    async def _doctor(self, used: Typed, words: list[str]) -> list[str]:
        found = await self._steward.findings(place_of(used))
        return list(map(finding_line, found)) or ["Everything is in place."]

    async def _jobs(self, used: Typed, words: list[str]) -> list[str]:
        jobs = await self._steward.jobs(place_of(used))
        return list(map(job_line, jobs)) or ["No job has run yet."]

    async def _gaps(self, used: Typed, words: list[str]) -> list[str]:
        found = await self._steward.gaps(place_of(used))
        return list(map(gap_line, found)) or ["Nothing was asked in vain."]

    async def _channel(self, used: Typed, words: list[str]) -> list[str]:
        place = place_of(used)
        if len(words) >= 2:
            own = await self._steward.own_policy(place)
            await self._steward.set_policy(place, changed(own, words[0].lower(), words[1:]))
        policy = await self._steward.policy(place)
        return [*policy_lines(policy), CHANNEL_HELP.format(name=self._names.house)]


def place_of(used: Typed) -> Place:
    """Where a command is used."""
    return Place(platform=Platform.SLACK, tenant=TenantId(used.team_id), channel_id=used.channel_id)


def changed(policy: ChannelPolicy, name: str, words: Sequence[str]) -> ChannelPolicy:
    """The policy with one setting changed; an InvalidQuestion where that makes no sense."""
    value = " ".join(words)
    match name:
        case "book":
            return policy.reading(*([] if value == "default" else [value]))
        case "auto":
            return replace(policy, auto_answer=switched(name, value))
        case "hints":
            return replace(policy, hint_only=switched(name, value))
        case "tone":
            return replace(policy, tone=None if value == "default" else value[:200])
        case _:
            raise InvalidQuestion(
                "channel",
                f"There is no setting {name[:30]!r}: there are book, auto, hints and tone.",
            )


def switched(name: str, value: str) -> bool | None:
    if value not in SWITCH:
        raise InvalidQuestion(name, f"{name} is on, off or default; it was {value[:30]!r}.")
    return SWITCH[value]


def policy_lines(policy: ChannelPolicy) -> list[str]:
    def shown(value: bool | None) -> str:
        return "default" if value is None else "on" if value else "off"

    return [
        f"• book: {escaped(policy.book_id or 'default')}",
        f"• auto (every question here is answered): {shown(policy.auto_answer)}",
        f"• hints (no solutions, only where to look): {shown(policy.hint_only)}",
        f"• tone: {escaped(policy.tone or 'default')}",
    ]


def book_line(book: Book) -> str:
    return f"• *{escaped(book.title)}* (`{book.book_id}`): {book.files} files"


def finding_line(finding: Finding) -> str:
    sign = "⚠️" if finding.needs_attention else "✅"
    advice = f" {to_mrkdwn(finding.advice)}" if finding.advice and finding.needs_attention else ""
    return f"{sign} *{escaped(finding.name)}*: {to_mrkdwn(finding.detail)}{advice}"


def job_line(job: IngestionJob) -> str:
    counts = f"{job.files_processed} files, {job.files_failed} failed"
    return f"• `{job.book_id}` {job.mode} {job.status}: {counts} ({job.started_at:%Y-%m-%d %H:%M})"


def gap_line(gap: GapLine) -> str:
    near = gap.nearest
    where = f" – nearest: {link(near.page_title, near.page_url)}" if near else ""
    return f"• {gap.count} × {escaped(gap.example)}{where}"


def as_reply(lines: Sequence[str]) -> Reply:
    text = lines[0] if len(lines) == 1 else "Footnote"
    return said(text, sections(lines))
