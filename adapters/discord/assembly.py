"""The parts of the Discord adapter, put together for one connection."""

from __future__ import annotations

from dataclasses import dataclass

from adapters.admissions import Admissions
from adapters.answer_policy import AnswerPolicy
from adapters.answered_threads import AnsweredThreads
from adapters.asked_lately import KnowsAskedLately
from adapters.discord.acting.commands import CommandRegister, commands
from adapters.discord.acting.interactions import Commands, Interactions
from adapters.discord.acting.keeping import Keeping
from adapters.discord.acting.lookup import Lookup
from adapters.discord.acting.presses import Presses
from adapters.discord.acting.staff import StaffDesk
from adapters.discord.acting.stewardship import Stewardship
from adapters.discord.answering.detours import Detours
from adapters.discord.answering.progress import LinePace
from adapters.discord.answering.renderer import DiscordRenderer
from adapters.discord.answering.reply import DiscordReplies
from adapters.discord.config import DiscordConfig
from adapters.discord.gateway.connection import Connection
from adapters.discord.gateway.rest import DiscordRest
from adapters.discord.gateway.tokens import TicketRest
from adapters.discord.hearing.afterthoughts import Afterthoughts
from adapters.discord.hearing.catch_up import CatchUp
from adapters.discord.hearing.entrance import Entrance
from adapters.discord.hearing.events import Rules
from adapters.discord.hearing.files import FileReader
from adapters.discord.hearing.listener import Listener
from adapters.discord.hearing.readers import Readers
from adapters.discord.hearing.second_look import SecondLook
from adapters.discord.hearing.servers import Servers
from adapters.discord.hearing.standing import MutedThreads, Standing
from adapters.discord.hearing.threads import ThreadReader
from adapters.platform import TakesQuestions
from adapters.review import Review
from adapters.staff_answers import KeepsAnswers
from adapters.steward import Steward
from adapters.thread_talk import ThreadTalk
from rag_core.books.rules import KnowsPolicies
from rag_core.ports import MarkerStore


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordParts:
    """What the rest of the house hands in.

    Without `lookup` there is no /lookup, and /ask proposes no modules; without `review`
    answers have no buttons; without `policies` no channel is answered in without a mention."""

    desk: TakesQuestions
    markers: MarkerStore
    admissions: Admissions
    """Which servers are served."""
    lookup: Lookup | None = None
    review: Review | None = None
    policies: KnowsPolicies | None = None
    steward: Steward | None = None
    lately: KnowsAskedLately | None = None
    """What was asked lately, for edits and deletions that nobody heard."""
    staffing: KeepsAnswers | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Works:
    """What hears, what answers, and what keeps both in step."""

    renderer: DiscordRenderer
    replies: DiscordReplies
    listener: Listener
    interactions: Interactions
    catch_up: CatchUp
    second_look: SecondLook | None
    register: CommandRegister
    servers: Servers


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What several of them hold."""

    rest: DiscordRest
    tickets: TicketRest
    threads: AnsweredThreads
    talk: ThreadTalk
    muted: MutedThreads
    readers: Readers
    servers: Servers
    keeping: Keeping | None


def assembled(config: DiscordConfig, parts: DiscordParts, connection: Connection) -> Works:
    rest, tickets = DiscordRest(connection), TicketRest(connection)
    shared = Shared(
        rest=rest,
        tickets=tickets,
        keeping=keeping_of(config, parts, rest, tickets),
        threads=AnsweredThreads(parts.markers),
        talk=ThreadTalk(),
        muted=MutedThreads(parts.markers),
        readers=Readers(config.reader_roles, parts.markers),
        servers=Servers(parts.admissions, rest),
    )
    replies = DiscordReplies(
        shared.rest,
        tickets=shared.tickets,
        threads=shared.threads,
        pace=pace_of(config),
        begin=shared.talk.begin,
        servers=shared.servers,
        detours=Detours(shared.rest, config.admin_channels),
    )
    entrance = Entrance()
    afterthoughts = Afterthoughts(
        desk=parts.desk, entrance=entrance, lines=replies.lines, pauses=config.accept_pauses
    )
    listener = listening(config, parts, connection, shared, entrance, afterthoughts)
    return Works(
        renderer=DiscordRenderer(
            with_buttons=parts.review is not None, staffed=config.staff_roles.keys()
        ),
        replies=replies,
        listener=listener,
        interactions=answering(config, parts, shared),
        catch_up=CatchUp(
            connection,
            listener=listener,
            markers=parts.markers,
            pauses=config.read_again_after,
        ),
        second_look=SecondLook(
            connection, known=parts.lately, listener=listener, afterthoughts=afterthoughts
        )
        if parts.lately is not None
        else None,
        register=CommandRegister(
            commands(with_lookup=parts.lookup is not None, keeps=parts.staffing is not None),
            guilds=config.command_guilds,
            rest=shared.rest,
            markers=parts.markers,
        ),
        servers=shared.servers,
    )


def listening(
    config: DiscordConfig,
    parts: DiscordParts,
    connection: Connection,
    shared: Shared,
    entrance: Entrance,
    afterthoughts: Afterthoughts,
) -> Listener:
    return Listener(
        desk=parts.desk,
        standing=Standing(
            threads=shared.threads,
            talk=shared.talk,
            muted=shared.muted,
            policies=parts.policies,
            allowed_bots=config.allowed_bots,
        ),
        policy=AnswerPolicy(),
        threads=ThreadReader(connection),
        files=FileReader(connection, seconds=config.request_seconds),
        rest=shared.rest,
        afterthoughts=afterthoughts,
        entrance=entrance,
        readers=shared.readers,
        talk=shared.talk,
        servers=shared.servers,
        keeping=shared.keeping,
        rules=Rules(direct_messages=config.direct_messages),
        pauses=config.accept_pauses,
    )


def answering(config: DiscordConfig, parts: DiscordParts, shared: Shared) -> Interactions:
    tickets, review = shared.tickets, parts.review
    stewardship = Stewardship(
        parts.steward,
        tickets=tickets,
        muted=shared.muted,
        readers=shared.readers,
        admin_roles=config.admin_roles,
    )
    known = Commands(
        desk=parts.desk,
        tickets=tickets,
        lookup=parts.lookup,
        readers=shared.readers,
        stewardship=stewardship,
        pauses=config.accept_pauses,
    )
    handlers = [known.hear]
    if review is not None:
        staff = StaffDesk(config.staff_roles, review, tickets=tickets, rest=shared.rest)
        handlers.append(Presses(review, tickets=tickets, staff=staff).hear)
    first = shared.keeping.hear if shared.keeping else None
    return Interactions(*handlers, servers=shared.servers, tickets=tickets, first=first)


def keeping_of(
    config: DiscordConfig, parts: DiscordParts, rest: DiscordRest, tickets: TicketRest
) -> Keeping | None:
    if parts.staffing is None:
        return None
    return Keeping(
        parts.staffing,
        staff_roles=config.staff_roles,
        admin_roles=config.admin_roles,
        rest=rest,
        tickets=tickets,
        pauses=config.accept_pauses,
    )


def pace_of(config: DiscordConfig) -> LinePace:
    return LinePace(
        after_seconds=config.line_after_seconds, every_seconds=config.line_every_seconds
    )
