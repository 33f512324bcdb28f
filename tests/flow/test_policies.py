"""A place's policy holds for every answer given there, whatever asker or model want."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from adapters.apologies import apologise
from rag_core.agent.agent import Agent
from rag_core.agent.answer import AgentResponse, ErrorKind, Outcome
from rag_core.agent.config import AgentConfig
from rag_core.books.book import Book
from rag_core.books.library import Library
from rag_core.books.policy import ChannelPolicy, Place, ReaderProfile
from rag_core.conversation.message import Role
from rag_core.conversation.question import Question
from rag_core.desk.answering import Answering
from rag_core.desk.incoming import IncomingQuestion
from rag_core.desk.outgoing import OpenQuestion
from rag_core.ports import ChatModel
from rag_core.providers.edge.store import open_edge_store
from rag_core.retrieval.query import Filters
from rag_core.retrieval.retriever import Retriever
from rag_core.storage.conversations.conversations import Conversations
from rag_core.storage.engines.database import open_database
from tests.builders import a_question
from tests.fakes.embedder import WordEmbedder
from tests.fakes.ingestion_stores import MemoryBooks, MemoryPolicies
from tests.fakes.listening_progress import ListeningProgress
from tests.fakes.scripted_model import ScriptedModel, Searching, search
from tests.shelf_builders import file_chunks

NOW = datetime.now(UTC)
ASKED = "How do I repeat the loop over the list of motors?"
PARTS = {
    "one": "Repeat the loop over the list of motors with for motor in motors and a colon.",
    "two": "Repeat the loop over the list of motors until the sensor says that it is enough.",
    "late": "Repeat the loop over the list of motors in reverse with the reversed function.",
    "hard": "Repeat the loop over the list of motors on four boards with a scheduler.",
}
SOLUTION = "```python\nfor motor in motors:\n    motor.start()\n```"


@dataclass
class School:
    """The desk's answering over a real index, with one channel's policy."""

    answering: Answering
    policies: MemoryPolicies
    progress: ListeningProgress = field(default_factory=ListeningProgress)

    async def says(self, policy: ChannelPolicy) -> None:
        key = a_question().key
        place = Place(platform=key.platform, tenant=key.tenant, channel_id=key.channel_id)
        await self.policies.set(place, policy)

    async def answers(self, question: IncomingQuestion | None = None) -> AgentResponse:
        claim = OpenQuestion(question_id=uuid4(), question=question or a_question(ASKED), attempt=1)
        return (await self.answering.answer(claim, self.progress))[0]

    async def modules_read(self, question: IncomingQuestion | None = None) -> set[str]:
        response = await self.answers(question)
        return {source.source_file.removesuffix(".md") for source in response.sources}


@asynccontextmanager
async def school(tmp_path: Path, model: ChatModel) -> AsyncIterator[School]:
    embedder, books, policies = WordEmbedder(), MemoryBooks(), MemoryPolicies()
    await books.save(Book(book_id="course", title="Course"))
    course = {
        "one": {"proficiency_level": "A1"},
        "two": {"proficiency_level": "B1"},
        "late": {"released_at": NOW + timedelta(days=30), "proficiency_level": "A1"},
        "hard": {"hardware_tier": 4, "proficiency_level": "A1"},
    }
    async with (
        open_database(f"sqlite:///{tmp_path}/footnote.db") as database,
        open_edge_store(
            tmp_path / "index", dimension=embedder.dimension, model=embedder.model
        ) as store,
    ):
        for module, text in PARTS.items():
            body = f"{text}\n\n{SOLUTION}" if module == "one" else text
            chunks = file_chunks([body], file=f"{module}.md", module=module, **course[module])
            await store.add(chunks)
            await store.show_version(book_id="course", source_file=f"{module}.md", version=1)
        retriever = Retriever(embedder=embedder, store=store)
        agent = Agent(
            model=model,
            retriever=retriever,
            config=AgentConfig(profile="simple"),
        )
        answering = Answering(
            agent=agent,
            conversations=Conversations(database),
            library=Library(books=books, policies=policies, default_book=None),
            apologise=apologise,
            model=agent.signature,
            max_turns=50,
            modules=retriever,
        )
        yield School(answering=answering, policies=policies)


@pytest.fixture
async def quoting(tmp_path: Path) -> AsyncIterator[School]:
    async with school(tmp_path, None) as opened:
        yield opened


async def test_without_a_policy_everything_is_read_that_is_out(quoting: School) -> None:
    assert await quoting.modules_read() == {"one", "two", "hard"}


async def test_a_release_date_of_the_place_opens_what_is_not_out_and_hides_what_is(
    quoting: School,
) -> None:
    await quoting.says(ChannelPolicy(released_at=NOW + timedelta(days=60)))
    assert await quoting.modules_read() == {"one", "two", "late", "hard"}


async def test_modules_keep_an_answer_to_any_of_several(quoting: School) -> None:
    await quoting.says(ChannelPolicy(modules=("one", "two")))
    assert await quoting.modules_read() == {"one", "two"}
    asked = replace(a_question(), question=Question(message=ASKED, filters=Filters(module="two")))
    assert await quoting.modules_read(asked) == {"two"}
    outside = replace(
        a_question(), question=Question(message=ASKED, filters=Filters(module="hard"))
    )
    response = await quoting.answers(outside)
    assert (response.outcome, response.error_kind) == (Outcome.ERROR, ErrorKind.INVALID)
    assert "Known modules: one, two" in response.answer


@pytest.mark.parametrize("policy", [ChannelPolicy(), ChannelPolicy(modules=("one", "two", "late"))])
@pytest.mark.parametrize("module", ["nowhere", "late"])
async def test_no_refusal_names_a_module_that_is_not_released(
    quoting: School, policy: ChannelPolicy, module: str
) -> None:
    await quoting.says(policy)
    question = Question(message=ASKED, filters=Filters(module=module))
    response = await quoting.answers(replace(a_question(), question=question))
    assert response.error_kind is ErrorKind.INVALID
    known = response.answer.split("Known modules: ")[1]
    assert known == ("one, two." if policy.modules else "hard, one, two.")


async def test_a_reader_profile_filters_what_is_found(quoting: School) -> None:
    await quoting.says(ChannelPolicy(reader=ReaderProfile(hardware_tier=2)))
    assert await quoting.modules_read() == {"one", "two"}
    stronger = replace(a_question(ASKED), reader=ReaderProfile(hardware_tier=4))
    assert await quoting.modules_read(stronger) == {"one", "two", "hard"}
    beginner = replace(a_question(ASKED), reader=ReaderProfile(proficiency_levels=("A1",)))
    assert await quoting.modules_read(beginner) == {"one"}


async def test_a_book_that_the_place_reads_is_not_left_for_the_default(quoting: School) -> None:
    await quoting.says(ChannelPolicy(book_id="another"))
    response = await quoting.answers()
    assert response.outcome is Outcome.ERROR
    assert "There is no book another, which is to be read here" in response.answer


async def test_the_model_cannot_leave_the_places_modules(tmp_path: Path) -> None:
    wish = {"query": ASKED, "top_k": 20, "similarity_threshold": 0.0, "module": "hard"}
    model = ScriptedModel(
        [Searching(arguments=(json.dumps(wish),)), search(ASKED), f"{PARTS['two']} [1]"]
    )
    async with school(tmp_path, model) as opened:
        await opened.says(ChannelPolicy(modules=("two",)))
        assert await opened.modules_read() == {"two"}
    refused = [m.content for m in model.requests[1] if m.role is Role.TOOL]
    assert len(refused) == 1
    assert "Known modules: two." in refused[0]
    assert "four boards" not in str(model.requests)


async def test_tone_and_profile_stand_among_the_models_instructions(tmp_path: Path) -> None:
    model = ScriptedModel([search(ASKED), f"{PARTS['one']} [1]"])
    async with school(tmp_path, model) as opened:
        await opened.says(
            ChannelPolicy(
                tone="warm,\nand\u202e brief",
                reader=ReaderProfile(hardware_tier=1, proficiency_levels=("A1",)),
            )
        )
        await opened.answers()
    system = model.requests[0][0].content
    assert "Tone that this place asks for: warm, and brief\n" in system
    assert "level is A1" in system
    assert "hardware is of tier 1 of 4" in system


async def test_without_a_model_a_hint_names_the_section_and_asks(quoting: School) -> None:
    await quoting.says(ChannelPolicy(hint_only=True, modules=("one",)))
    response = await quoting.answers()
    assert response.outcome is Outcome.COMPLETED
    assert response.answer == (
        "This place is for working it out yourself. Read here first:\n\n"
        "- One › Part 0 [1]\n\nWhat does “Part 0” say that you have not used yet?"
    )
    assert_gives_nothing_away(quoting, response)


async def test_a_hint_never_holds_what_the_model_gave_away(tmp_path: Path) -> None:
    told = (
        f"Sure! Use this [1]:\n\n{SOLUTION}\n\nRepeat the loop with for motor in motors [1]."
        " Did you write `for motor in motors:`? Is it 4 times?"
        " Which part of your program has to happen once for each motor [1]?"
    )
    model = ScriptedModel([search(ASKED), told])
    async with school(tmp_path, model) as opened:
        await opened.says(ChannelPolicy(hint_only=True, modules=("one",)))
        response = await opened.answers()
        assert response.answer.endswith(
            "\n\nWhich part of your program has to happen once for each motor?"
        )
        assert_gives_nothing_away(opened, response)
    assert "Never give a solution" in model.requests[0][0].content


async def test_what_the_documents_do_not_hold_is_refused_in_a_hint_place_too(
    tmp_path: Path,
) -> None:
    model = ScriptedModel([search(ASKED), "The documents do not cover this question."])
    async with school(tmp_path, model) as opened:
        await opened.says(ChannelPolicy(hint_only=True))
        response = await opened.answers()
    assert response.outcome is Outcome.NO_RESULTS
    assert response.citations == ()


def assert_gives_nothing_away(opened: School, response: AgentResponse) -> None:
    shown = [
        response.answer,
        *opened.progress.shown,
        *(citation.quote for citation in response.citations),
        *(source.chunk_text for source in response.sources),
    ]
    assert [c.section_heading for c in response.citations] == ["Part 0"]
    assert not any("motors" in text or "```" in text for text in shown)
