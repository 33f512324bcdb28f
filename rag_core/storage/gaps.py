"""Questions in vain, and the gaps that they were placed in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import (
    Column,
    ColumnElement,
    Integer,
    Select,
    Text,
    and_,
    bindparam,
    delete,
    exists,
    func,
    not_,
    or_,
    select,
    update,
)

from rag_core.agent.answer import Outcome
from rag_core.books.book import BookIds
from rag_core.conversation.key import Platform, TenantId
from rag_core.insight.gap import Gap, GapState, Member, Placed, Unanswered
from rag_core.storage import schema
from rag_core.storage.engines.codec import from_time, is_looked_up_within, to_time
from rag_core.storage.engines.engine import Database, Row, Transaction
from rag_core.storage.engines.statement import Statement, insert_into, upsert
from rag_core.storage.gap_rows import (
    member_from_row,
    nearest_of,
    placed_to_row,
    question_of,
    unanswered_from_row,
)
from rag_core.storage.markers import Markers

gaps, placed_in, turns = schema.gaps, schema.gap_questions, schema.turns
answers, feedback, questions = schema.answers, schema.feedback, schema.questions

CONSIDERED = 1_000
"""The newest questions in vain; those before them are told no more."""
EXAMPLES = 6
MODEL_MARKER = "gaps.embedding_model"


def rated(helpful: bool) -> ColumnElement[bool]:
    """Whether somebody thinks so of the answer."""
    same = feedback.c.answer_id == answers.c.answer_id
    return exists(select(feedback.c.answer_id).where(same, feedback.c.helpful.is_(helpful)))


def is_in_vain() -> ColumnElement[bool]:
    """Refused, or answered with caution and nobody is content, or not helpful."""
    return or_(
        answers.c.outcome == Outcome.NO_RESULTS.value,
        and_(answers.c.outcome == Outcome.LOW_CONFIDENCE.value, not_(rated(True))),
        rated(False),
    )


def told(*more: ColumnElement[object]) -> Select[tuple[object, ...]]:
    """Answers with what of them tells the question."""
    return select(
        answers.c.answer_id, answers.c.body, answers.c.created_at, turns.c.retrievals, *more
    )


def or_any(name: str, column: Column[str]) -> ColumnElement[str]:
    """A value that may be left open."""
    return func.coalesce(bindparam(name, type_=Text), column)


WITH_TURNS = answers.outerjoin(turns, turns.c.question == answers.c.question)
NOT_PLACED = placed_in.c.answer_id.is_(None)
AT_MOST = bindparam("at_most", type_=Integer)
REFUSED = Statement(
    told()
    .select_from(WITH_TURNS.outerjoin(placed_in))
    .where(schema.IN_VAIN, NOT_PLACED)
    .order_by(answers.c.created_at.desc())
    .limit(AT_MOST)
)
NOT_HELPFUL = Statement(
    told()
    .select_from(
        feedback.join(WITH_TURNS, feedback.c.answer_id == answers.c.answer_id).outerjoin(
            placed_in, placed_in.c.answer_id == answers.c.answer_id
        )
    )
    .where(schema.UNHELPFUL, NOT_PLACED)
    .order_by(feedback.c.rated_at.desc())
    .limit(AT_MOST)
)
MEMBERS = Statement(
    select(*placed_in.c, gaps.c.state, gaps.c.changed_at, questions.c.platform, questions.c.tenant)
    .select_from(placed_in.join(gaps).join(answers).join(questions))
    .where(is_in_vain())
    .order_by(placed_in.c.asked_at.desc())
    .limit(CONSIDERED)
)
CLOSEST = Statement(
    told(questions.c.platform, questions.c.tenant)
    .select_from(
        placed_in.join(WITH_TURNS, placed_in.c.answer_id == answers.c.answer_id).join(
            questions, questions.c.id == answers.c.question
        )
    )
    .where(
        placed_in.c.gap_id == bindparam("gap_id"),
        is_in_vain(),
        questions.c.platform == or_any("platform", questions.c.platform),
        questions.c.tenant == or_any("tenant", questions.c.tenant),
    )
    .order_by(placed_in.c.closeness.desc())
    .limit(bindparam("examples", type_=Integer))
)
STILL_THERE = Statement(
    select(answers.c.answer_id).where(answers.c.answer_id == bindparam("answer_id"))
)
LOOKED_UP = Statement(
    select(placed_in.c.answer_id, turns.c.retrievals)
    .select_from(
        placed_in.join(answers, answers.c.answer_id == placed_in.c.answer_id).outerjoin(
            turns, turns.c.question == answers.c.question
        )
    )
    .where(placed_in.c.gap_id == bindparam("gap_id"))
)
MEMBER_QUESTIONS = Statement(
    told()
    .select_from(placed_in.join(WITH_TURNS, placed_in.c.answer_id == answers.c.answer_id))
    .where(placed_in.c.gap_id.is_not(None), is_in_vain())
    .order_by(placed_in.c.asked_at.desc())
    .limit(CONSIDERED)
)
OPEN_GAP = Statement(insert_into(gaps))
PLACE = upsert(placed_in, on=("answer_id",))
DROP_EMPTY = Statement(
    delete(gaps).where(
        ~exists(select(placed_in.c.answer_id).where(placed_in.c.gap_id == gaps.c.gap_id))
    )
)
CHANGE = Statement(
    update(gaps)
    .where(gaps.c.gap_id == bindparam("of"))
    .values(state=bindparam("new_state"), changed_at=bindparam("now"))
    .returning(gaps.c.gap_id)
)


class GapRecords:
    """The gaps in the database; what a thread's deletion takes away is gone from them at once."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._markers = Markers(database)

    async def unplaced(self, *, limit: int) -> Sequence[Unanswered]:
        rows = [
            *await self._database.rows(REFUSED, at_most=limit),
            *await self._database.rows(NOT_HELPFUL, at_most=limit),
        ]
        return list({row["answer_id"]: unanswered_from_row(row) for row in rows}.values())[:limit]

    async def members(self) -> Sequence[Member]:
        return [member_from_row(row) for row in await self._database.rows(MEMBERS)]

    async def member_questions(self) -> Mapping[UUID, str]:
        rows = await self._database.rows(MEMBER_QUESTIONS)
        return {UUID(row["answer_id"]): question_of(row) for row in rows}

    async def model(self) -> str | None:
        return await self._markers.get(MODEL_MARKER)

    async def place(self, placed: Sequence[Placed], *, opened: Sequence[UUID], model: str) -> None:
        now = to_time(datetime.now(UTC))
        made = [
            {"gap_id": str(gap_id), "state": GapState.OPEN.value, "changed_at": now}
            for gap_id in opened
        ]

        async def body(transaction: Transaction) -> None:
            await transaction.many(OPEN_GAP, made)
            there = [
                placed_to_row(each)
                for each in placed
                if await transaction.rows(STILL_THERE, answer_id=str(each.answer_id))
            ]
            await transaction.many(PLACE, there)
            await transaction.rows(DROP_EMPTY)

        await self._database.write(body)
        if await self.model() != model:
            await self._markers.set(MODEL_MARKER, model)

    async def listed(
        self,
        *,
        platform: Platform | None = None,
        tenant: TenantId | None = None,
        books: BookIds | None = None,
        states: Sequence[GapState] = (),
        limit: int = 50,
    ) -> Sequence[Gap]:
        groups: defaultdict[str, list[Row]] = defaultdict(list)
        for row in await self._database.rows(MEMBERS):
            here = platform in (None, row["platform"]) and tenant in (None, row["tenant"])
            if here and (not states or row["state"] in states):
                groups[row["gap_id"]].append(row)
        if books is not None:
            within = [await self._within(gap_id, rows, books) for gap_id, rows in groups.items()]
            groups = defaultdict(list, {rows[0]["gap_id"]: rows for rows in within if rows})
        most = sorted(groups.values(), key=lambda rows: (-len(rows), rows[0]["gap_id"]))[:limit]
        listed = [await self._gap(rows, platform, tenant, books) for rows in most]
        return [gap for gap in listed if gap is not None]

    async def is_within(self, gap_id: UUID, *, books: BookIds) -> bool:
        looked_up = await self._database.rows(LOOKED_UP, gap_id=str(gap_id))
        return bool(looked_up) and all(is_looked_up_within(row, books) for row in looked_up)

    async def _within(self, gap_id: str, rows: Sequence[Row], books: BookIds) -> list[Row]:
        """The questions of a gap that were looked up in these books alone."""
        looked_up = await self._database.rows(LOOKED_UP, gap_id=gap_id)
        own = {row["answer_id"] for row in looked_up if is_looked_up_within(row, books)}
        return [row for row in rows if row["answer_id"] in own]

    async def set_state(self, gap_id: UUID, state: GapState) -> bool:
        now = to_time(datetime.now(UTC))
        changed = await self._database.run(CHANGE, of=str(gap_id), new_state=state.value, now=now)
        return bool(changed)

    async def _gap(
        self,
        rows: Sequence[Row],
        platform: Platform | None,
        tenant: TenantId | None,
        books: BookIds | None,
    ) -> Gap | None:
        """A gap from its questions, the newest first; None: they were deleted just now."""
        closest = await self._database.rows(
            CLOSEST,
            gap_id=rows[0]["gap_id"],
            platform=platform.value if platform else None,
            tenant=tenant,
            examples=EXAMPLES if books is None else CONSIDERED,
        )
        if books is not None:
            own = {row["answer_id"] for row in rows}
            closest = [row for row in closest if row["answer_id"] in own][:EXAMPLES]
        if not closest:
            return None
        example, *others = dict.fromkeys(question_of(row) for row in closest)
        return Gap(
            gap_id=UUID(rows[0]["gap_id"]),
            state=GapState(rows[0]["state"]),
            example=example,
            examples=tuple(others),
            count=len(rows),
            platforms=tuple(sorted({str(row["platform"]) for row in rows})),
            first_asked_at=from_time(rows[-1]["asked_at"]),
            last_asked_at=from_time(rows[0]["asked_at"]),
            nearest=nearest_of(closest),
        )
