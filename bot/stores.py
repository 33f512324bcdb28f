"""Everything that lives in the database, opened together."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from uuid import UUID

from bot.failpoint import failpoint
from bot.setting import ids_in
from bot.settings import Settings
from rag_core.desk.failpoints import watched
from rag_core.insight.gaps import GapStore
from rag_core.insight.repeats import RepeatStore
from rag_core.insight.stats import StatsStore
from rag_core.insight.story import StoryStore
from rag_core.ports import (
    BookStore,
    ConversationStore,
    FeedbackStore,
    ForgettingStore,
    InstallationStore,
    JobStore,
    Ledger,
    MarkerStore,
    PolicyStore,
    SourceStore,
    TenantStore,
    TicketStore,
    UsageStore,
)
from rag_core.ports.sessions import SignInStore
from rag_core.staff.store import StaffAnswerStore
from rag_core.storage.books import Books
from rag_core.storage.conversations.conversations import Conversations
from rag_core.storage.engines.database import Database, open_database
from rag_core.storage.feedback import Feedback
from rag_core.storage.forgetting import Forgetting
from rag_core.storage.gaps import GapRecords
from rag_core.storage.jobs import Jobs
from rag_core.storage.ledger.lately import AskedLately
from rag_core.storage.ledger.ledger import QuestionLedger
from rag_core.storage.ledger.token_usage import TokenUsage
from rag_core.storage.markers import Markers
from rag_core.storage.policies import Policies
from rag_core.storage.repeats import RepeatRecords
from rag_core.storage.sign_ins import SignIns
from rag_core.storage.sources import Sources
from rag_core.storage.staff_answers import StaffAnswers
from rag_core.storage.stats import StatsRecords
from rag_core.storage.stories import Stories
from rag_core.storage.tenants import Tenants
from rag_core.storage.used_tickets import UsedTickets


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """What lives in the database."""

    conversations: ConversationStore
    ledger: Ledger
    books: BookStore
    policies: PolicyStore
    sources: SourceStore
    jobs: JobStore
    feedback: FeedbackStore
    gaps: GapStore
    repeats: RepeatStore
    stats: StatsStore
    stories: StoryStore
    markers: MarkerStore
    tickets: TicketStore
    staff_answers: StaffAnswerStore
    forgetting: ForgettingStore
    lately: AskedLately
    sign_ins: SignInStore
    usage: UsageStore
    tenants: TenantStore
    installations: InstallationStore | None
    """None where there is no key to seal tokens with."""


@contextlib.asynccontextmanager
async def open_stores(
    settings: Settings, *, stop_work: Callable[[UUID], None]
) -> AsyncIterator[Stores]:
    """`stop_work` ends an answer that is being written to a question that is forgotten."""
    async with open_database(settings.database) as database:
        yield Stores(
            conversations=Conversations(database),
            ledger=watched(QuestionLedger(database), failpoint(settings)),
            books=Books(database),
            policies=Policies(database),
            sources=Sources(database),
            jobs=Jobs(database),
            feedback=Feedback(database),
            gaps=GapRecords(database),
            repeats=RepeatRecords(database),
            stats=StatsRecords(database),
            stories=Stories(database),
            markers=Markers(database),
            tickets=UsedTickets(database),
            staff_answers=StaffAnswers(database),
            forgetting=Forgetting(database, stop_work=stop_work),
            lately=AskedLately(database),
            sign_ins=SignIns(database),
            usage=TokenUsage(database),
            tenants=Tenants(database),
            installations=installations_in(database, settings),
        )


def installations_in(database: Database, settings: Settings) -> InstallationStore | None:
    if settings.secret_keys is None:
        return None
    from rag_core.storage.installations import Installations
    from rag_core.storage.sealing import Sealer

    return Installations(database, Sealer(ids_in(settings.secret_keys.get_secret_value())))
