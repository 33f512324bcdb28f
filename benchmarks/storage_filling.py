"""Fills a database with threads, quickly: rows as the stores write them, last used at random."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import Table

from rag_core.conversation.key import ConversationKey, Platform, TenantId
from rag_core.conversation.message import Message
from rag_core.conversation.question import Question
from rag_core.conversation.state import RetrievalRecord
from rag_core.desk.incoming import IncomingQuestion
from rag_core.storage import schema
from rag_core.storage.conversations.threads import IDLE, key_to_row
from rag_core.storage.engines.codec import MESSAGES, RETRIEVALS, question_to_json, to_json, to_time
from rag_core.storage.engines.statement import Statement, insert_into

LONG_THREADS = 1_000
"""So many threads have twenty messages, spread over the file; they are the ones that are read.
The others have two."""
LONG = 10
YEAR = datetime(2026, 1, 1, tzinfo=UTC)
CHANCE = random.Random(20260101)


def key_of(number: int) -> ConversationKey:
    return ConversationKey(
        platform=Platform.SLACK,
        tenant=TenantId(f"T{number % 7}"),
        channel_id=f"C{number % 997:09d}",
        thread_id=f"17{number:08d}.000100",
    )


def long_threads(threads: int) -> range:
    """The numbers of the threads with twenty messages."""
    return range(0, threads, threads // LONG_THREADS)


def fill(path: Path, *, threads: int) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous=OFF")
    connection.execute("PRAGMA cache_size=-1000000")
    connection.execute("BEGIN")
    insert(connection, schema.threads, thread_rows(threads))
    insert(connection, schema.sessions, session_rows(threads))
    turns = [(thread, 1) for thread in range(threads)]
    turns += [(thread, number) for thread in long_threads(threads) for number in range(2, LONG + 1)]
    CHANCE.shuffle(turns)  # a thread's turns lie as far apart as they do when people take turns
    insert(connection, schema.questions, question_rows(turns))
    insert(connection, schema.turns, turn_rows(turns))
    connection.execute("COMMIT")
    connection.execute("ANALYZE")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def insert(connection: sqlite3.Connection, table: Table, rows: Iterator[dict[str, Any]]) -> None:
    first = next(rows)
    unsaid = tuple(column.name for column in table.columns if column.name not in first)
    statement = Statement(insert_into(table, without=unsaid))
    connection.executemany(statement.for_sqlite({})[0], chain([first], rows))


def at_random() -> str:
    return to_time(YEAR + timedelta(seconds=CHANCE.randrange(31_000_000)))


def thread_rows(threads: int) -> Iterator[dict[str, Any]]:
    for number in range(threads):
        yield {"id": number, **key_to_row(key_of(number)), **IDLE, "updated_at": at_random()}


def session_rows(threads: int) -> Iterator[dict[str, Any]]:
    long = set(long_threads(threads))
    for number in range(threads):
        yield {
            "id": number,
            "thread": number,
            "session_id": str(UUID(int=CHANCE.getrandbits(128), version=4)),
            "number": 1,
            "model": "scripted",
            "turn_count": LONG if number in long else 1,
            "topic_summary": "How many questions may be asked in a day",
            "metadata": '{"askers":["U0001"]}',
            "created_at": at_random(),
            "closed_at": None,
        }


def question_rows(turns: list[tuple[int, int]]) -> Iterator[dict[str, Any]]:
    body = question_to_json(
        IncomingQuestion(
            key=key_of(1),
            message_id="1700000000.000100",
            asker_id="U0001",
            question=Question(message="How many questions may I ask in a day?"),
            heard_at=YEAR,
            position="1700000000.000100",
        )
    )
    for thread, number in turns:
        key = key_of(thread)
        yield {
            "id": question_id(thread, number),
            "thread": thread,
            "platform": key.platform.value,
            "tenant": key.tenant,
            "channel_id": key.channel_id,
            "message_id": f"{thread}-{number}",
            "asker_id": "U0001",
            "position": f"{number:06d}",
            "body": body,
            "state": "COMPLETED",
            "attempt": 1,
            "accepted_at": at_random(),
            "settled_at": at_random(),
            "closed_at": at_random(),
            "delivered": True,
        }


def turn_rows(turns: list[tuple[int, int]]) -> Iterator[dict[str, Any]]:
    question = Message.user("How many questions may I ask in a day?", at=YEAR)
    answer = Message.assistant("Ten a day for each of you [1]. " * 8, at=YEAR, confidence=0.8)
    messages = to_json(MESSAGES, (question, answer))
    record = RetrievalRecord(
        tool_name="retrieve_documentation",
        query="questions a day",
        results_count=5,
        avg_similarity=0.5,
        timestamp=YEAR,
    )
    retrievals = to_json(RETRIEVALS, (record,))
    for thread, number in turns:
        yield {
            "session": thread,
            "number": number,
            "question": question_id(thread, number),
            "messages": messages,
            "retrievals": retrievals,
            "created_at": at_random(),
        }


def question_id(thread: int, number: int) -> str:
    return str(UUID(int=(thread * 1000 + number) * 0x9E3779B97F4A7C15 % 2**128))
