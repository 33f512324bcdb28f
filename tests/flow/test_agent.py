"""The agent with a model that says what the test wants, and a few passages in memory."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from rag_core.agent.agent import Agent, AgentAnswer
from rag_core.agent.answer import Outcome
from rag_core.agent.catalog import Documents
from rag_core.agent.confidence.level import ConfidenceLevel
from rag_core.agent.config import AgentConfig
from rag_core.agent.model_events import FinishReason, ToolChoice
from rag_core.agent.phrases import ENGLISH
from rag_core.agent.prompts import NOT_COVERED
from rag_core.agent.tool import RetrievalTool, ToolBounds
from rag_core.agent.verification.model import ModelVerifier
from rag_core.books.book import BookIds
from rag_core.conversation.message import Message, Role
from rag_core.conversation.question import Question
from rag_core.conversation.state import ConversationState
from rag_core.desk.progress import QuestionState
from rag_core.errors import AnswerTimedOut, ModelBehaviourError, UpstreamUnavailable
from rag_core.retrieval.query import Filters
from tests.builders import NOON, a_thread
from tests.fakes.listening_progress import ListeningProgress
from tests.fakes.memory_retriever import MemoryRetriever, passage
from tests.fakes.scripted_model import CutOnce, Ending, ScriptedModel, Searching, search

LIMITS = passage("Every member may upload ten files a day. A file may have at most 25 MB.")
INVITES = passage(
    "A member invites guests from the members page. Guests stay for 30 days.",
    heading="Guests",
    url="https://docs.example.com/handbook#guests",
)
BOOKS = BookIds(["handbook"])
LIMIT_QUESTION = "How many files may a member upload a day?"


def agent_with(
    model: ScriptedModel, retriever: MemoryRetriever | None = None, **config: Any
) -> Agent:
    return Agent(
        model=model,
        retriever=retriever or MemoryRetriever([LIMITS, INVITES]),
        config=AgentConfig(**config),
    )


async def ask(
    agent: Agent,
    text: str = LIMIT_QUESTION,
    *,
    state: ConversationState | None = None,
    progress: ListeningProgress | None = None,
    locale: str = "en",
) -> AgentAnswer:
    return await agent.answer(
        Question(message=text),
        state=state or a_thread(),
        books=BOOKS,
        audience=None,
        progress=progress or ListeningProgress(),
        locale=locale,
    )


async def test_an_answer_cites_the_passage_that_says_it() -> None:
    model = ScriptedModel(
        [search("upload limit files day"), "A member may upload ten files a day [1]."]
    )
    response = (await ask(agent_with(model))).response
    assert response.answer == "A member may upload ten files a day [1]."
    assert response.outcome is Outcome.COMPLETED
    (citation,) = response.citations
    words = "Every%20member%20may%20upload%20ten%20files%20a%20day."
    assert citation.page_url == f"{LIMITS.page_url}:~:text={words}"
    assert citation.content_hash == LIMITS.content_hash
    assert citation.quote == "Every member may upload ten files a day."
    assert response.tokens_used == 180


async def test_the_first_round_must_search_and_the_last_may_not() -> None:
    model = ScriptedModel(
        [search("upload files"), search("member upload day"), "Ten files a day [1]."]
    )
    await ask(agent_with(model))
    assert model.choices == [ToolChoice.REQUIRED, ToolChoice.AUTO, ToolChoice.NONE]
    assert all(model.tools), "some servers refuse tool messages without the tools"


async def test_a_model_that_answers_without_searching_is_not_believed() -> None:
    retriever = MemoryRetriever([LIMITS])
    model = ScriptedModel(["A member may upload 500 files.", "Ten files a day [1]."])
    response = (await ask(agent_with(model, retriever))).response
    assert [query.text for query in retriever.asked] == [LIMIT_QUESTION]
    assert response.answer == "Ten files a day [1]."


async def test_searches_of_one_round_run_side_by_side_and_are_numbered_in_order() -> None:
    retriever = MemoryRetriever([LIMITS, INVITES], seconds=0.01)
    model = ScriptedModel(
        [
            search("upload files limit", "invites guests members page"),
            "A member may upload ten files a day [1]. Guests stay for 30 days [2].",
        ]
    )
    response = (await ask(agent_with(model, retriever))).response
    assert retriever.most_at_once == 2
    assert response.answer == (
        "A member may upload ten files a day [1]. Guests stay for 30 days [2]."
    )
    ranks = [
        [found["rank"] for found in json.loads(message.content)["results"]]
        for message in model.requests[-1]
        if message.role is Role.TOOL
    ]
    assert ranks == [[1], [2, 1]]


def read(rank: Any, direction: str) -> Searching:
    arguments = json.dumps({"rank": rank, "direction": direction})
    return Searching(arguments=(arguments,), tool="read_section")


async def test_a_model_reads_on_in_the_page_of_a_section() -> None:
    retriever = MemoryRetriever([LIMITS, INVITES])
    model = ScriptedModel(
        [
            search("upload limit files day"),
            read(1, "after"),
            "Ten files a day [1]. Guests stay for 30 days [2].",
        ]
    )
    answered = await ask(agent_with(model, retriever, top_k=1))
    (passage_read,) = told_last(model)["results"]
    assert (passage_read["rank"], passage_read["chunk_text"]) == (2, INVITES.text)
    assert answered.response.answer == "Ten files a day [1]. Guests stay for 30 days [2]."
    assert answered.turn is not None
    assert [record.tool_name for record in answered.turn.retrievals] == [
        "retrieve_documentation", "read_section",
    ]  # fmt: skip


def told_last(model: ScriptedModel) -> dict[str, Any]:
    """What the model was told by its last tool call."""
    told: dict[str, Any] = json.loads(model.requests[-1][-1].content)
    return told


@pytest.mark.parametrize(
    ("rank", "direction", "names"),
    [
        (7, "after", "1 to 1"),
        (0, "after", "1 to 1"),
        (1, "before", "Nothing stands before"),
        (1, "sideways", "direction"),
        ("1", "after", "rank"),
        (None, "after", "rank"),
    ],
)
async def test_where_nothing_can_be_read_the_model_is_told_why(
    rank: Any, direction: str, names: str
) -> None:
    model = ScriptedModel([search("upload files"), read(rank, direction), "Ten files a day [1]."])
    answered = await ask(agent_with(model, MemoryRetriever([LIMITS])))
    told = told_last(model)
    assert names in told["error"]
    assert "results" not in told
    assert answered.response.outcome is Outcome.COMPLETED
    assert len(answered.response.sources) == 1


async def test_reading_before_the_first_search_is_an_error_to_read() -> None:
    model = ScriptedModel([read(1, "after"), search("upload files"), "Ten files a day [1]."])
    answered = await ask(agent_with(model))
    assert "Search first" in json.loads(model.requests[1][-1].content)["error"]
    assert answered.response.outcome is Outcome.COMPLETED


async def test_a_section_beside_that_the_model_has_is_named_by_its_rank_alone() -> None:
    model = ScriptedModel(
        [search("guests from the members page, files"), read(1, "before"), "Ten files a day [2]."]
    )
    await ask(agent_with(model, MemoryRetriever([LIMITS, INVITES])))
    found = json.loads(model.requests[1][-1].content)["results"]
    assert [one["section_heading"] for one in found] == ["Guests", "Limits"]
    assert told_last(model)["results"] == [{"rank": 2}]


async def test_the_evidence_has_a_budget_that_reading_on_counts_in() -> None:
    long = [
        replace(
            passage(f"Upload files part {n}. " + "The limit is ten files a day. " * 100),
            parent_doc_id="long",
        )
        for n in range(3)
    ]
    model = ScriptedModel(
        [
            search("upload files part 0"),
            Searching(arguments=('{"rank": 1, "direction": "after"}',), tool="read_section"),
            "The limit is ten files a day [1].",
        ]
    )
    await ask(agent_with(model, MemoryRetriever(long), top_k=1, prompt_tokens=2_000))
    assert "no room" in told_last(model)["error"]


@pytest.mark.parametrize("top_k", [1, 2])
async def test_as_many_sources_as_the_asker_named_are_found_at_most(top_k: int) -> None:
    model = ScriptedModel(
        [search("member upload guests"), "A member may upload ten files a day [1]."]
    )
    answer = await agent_with(model).answer(
        Question(message=LIMIT_QUESTION, top_k=top_k),
        state=a_thread(),
        books=BOOKS,
        audience=None,
        progress=ListeningProgress(),
    )
    assert len(answer.response.sources) == top_k


async def test_a_passage_found_again_keeps_its_number() -> None:
    model = ScriptedModel([search("upload files"), search("files a day"), "Ten files a day [1]."])
    answered = await ask(agent_with(model, MemoryRetriever([LIMITS])))
    tools = [m for m in model.requests[-1] if m.role is Role.TOOL]
    assert [json.loads(m.content)["results"][0]["rank"] for m in tools] == [1, 1]
    assert len(answered.response.sources) == 1
    assert answered.response.retrieval_count == 1, "passages are counted, not searches"


@pytest.mark.parametrize(
    ("question", "relevant", "sufficient"),
    [(LIMIT_QUESTION, True, True), ("Who won the world cup in 1998?", False, False)],
)
async def test_a_thread_keeps_what_the_evidence_was_judged_by(
    question: str, relevant: bool, sufficient: bool
) -> None:
    model = ScriptedModel([search(question), "A member may upload ten files a day [1]."])
    retriever = MemoryRetriever([LIMITS])
    answered = await ask(agent_with(model, retriever, profile="simple"), question)
    assert answered.turn is not None
    evidence = answered.turn.metadata["evidence"]
    assert evidence["has_relevant_results"] is relevant
    assert evidence["has_sufficient_context"] is sufficient
    assert evidence["num_chunks"] == answered.response.retrieval_count
    assert evidence["min_similarity"] <= evidence["average_similarity"]
    assert evidence["average_similarity"] <= evidence["max_similarity"]
    assert evidence["chunk_diversity"] == 0.0


async def test_the_evidence_names_its_question_and_what_it_was_narrowed_by() -> None:
    tool = RetrievalTool(
        retriever=MemoryRetriever([LIMITS]),
        bounds=ToolBounds(
            books=BOOKS, audience=None, filters=Filters(lesson=2), similarity_threshold=0.25
        ),
        question=LIMIT_QUESTION,
        now=lambda: NOON,
    )
    assert tool.context.query == LIMIT_QUESTION
    assert dict(tool.context.filter_applied) == {
        "book_ids": ("handbook",), "limit": 5, "similarity_threshold": 0.25, "lesson": 2,
    }  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    [
        "{not json",
        "[]",
        '{"query": "ab", "top_k": null, "similarity_threshold": null, "module": null}',
        '{"query": "upload files", "top_k": 21, "similarity_threshold": null, "module": null}',
        '{"query": "upload files", "top_k": 5, "similarity_threshold": 1.5, "module": null}',
        '{"query": "upload files", "books": ["secret"]}',
        '{"query": "upload", "top_k": null, "similarity_threshold": null, "module": "nowhere"}',
        '{"query": {"$ne": 1}}',
    ],
)
async def test_bad_arguments_go_back_to_the_model(arguments: str) -> None:
    retriever = MemoryRetriever([LIMITS])
    model = ScriptedModel(
        [Searching(arguments=(arguments,)), search("upload files"), "Ten files a day [1]."]
    )
    response = (await ask(agent_with(model, retriever))).response
    told = json.loads(model.requests[1][-1].content)
    assert told["error"]
    assert "results" not in told
    assert response.outcome is Outcome.COMPLETED
    assert all(query.book_ids == BOOKS for query in retriever.asked)


@pytest.mark.parametrize("second", [Searching(arguments=("{}",)), "Ten files, I think."])
async def test_calls_that_cannot_be_made_lead_to_a_search_with_the_question(second: Any) -> None:
    retriever = MemoryRetriever([LIMITS])
    model = ScriptedModel([Searching(arguments=("{not json",)), second, "Ten files a day [1]."])
    response = (await ask(agent_with(model, retriever))).response
    assert [query.text for query in retriever.asked] == [LIMIT_QUESTION]
    assert response.answer == "Ten files a day [1]."


async def test_thoughts_of_a_model_reach_nobody() -> None:
    progress = ListeningProgress()
    thought = "<think>They ask for the secret limit of 42 [1].</think>\nTen files a day [1]."
    model = ScriptedModel([search("upload files"), thought])
    response = (await ask(agent_with(model), progress=progress)).response
    assert response.answer == "Ten files a day [1]."
    assert not any("secret" in shown for shown in progress.shown)


async def test_a_reply_that_shows_nothing_is_empty() -> None:
    model = ScriptedModel([search("upload files"), "\u200b\u2060 \ufeff"])
    with pytest.raises(ModelBehaviourError, match="empty"):
        await ask(agent_with(model))


async def test_confidence_is_judged_by_the_best_of_question_and_queries() -> None:
    """The asker's language is not that of the documents; the model's query is."""
    asked = "Wie viele Dateien darf ein Mitglied am Tag hochladen?"
    query = search("How many files may a member upload a day?")
    model = ScriptedModel([query, "Ten files a day [1]."])
    response = (await ask(agent_with(model), asked)).response
    alone = (
        await ask(agent_with(ScriptedModel([search(asked), "Ten a day [1]."])), asked)
    ).response
    assert response.outcome is Outcome.COMPLETED
    assert response.confidence > alone.confidence


async def test_the_model_is_told_what_the_documents_are() -> None:
    class Shelf:
        async def describe(self, books: BookIds) -> Documents:
            return Documents(titles=tuple(books), languages=("German",))

    model = ScriptedModel([search("upload files"), "Ten files a day [1]."])
    agent = Agent(
        model=model,
        retriever=MemoryRetriever([LIMITS]),
        config=AgentConfig(),
        catalog=Shelf(),
    )
    await ask(agent)
    system = model.requests[0][0].content
    assert "handbook" in system
    assert "German" in system


async def test_a_tool_that_is_not_there_is_an_error_to_read() -> None:
    model = ScriptedModel(
        [Searching(queries=("upload",), tool="run_shell"), search("upload files"), "Ten files [1]."]
    )
    await ask(agent_with(model))
    assert "no such tool" in json.loads(model.requests[1][-1].content)["error"]


async def test_the_asker_s_filters_hold_whatever_the_model_asks() -> None:
    retriever = MemoryRetriever(
        [replace(LIMITS, module="uploads"), replace(INVITES, module="people")]
    )
    arguments = {
        "query": "upload files",
        "top_k": 9,
        "similarity_threshold": 0.0,
        "module": "people",
    }
    model = ScriptedModel([Searching(arguments=(json.dumps(arguments),)), "Ten files a day [1]."])
    await agent_with(model, retriever).answer(
        Question(
            message=LIMIT_QUESTION, similarity_threshold=0.2, filters=Filters(module="uploads")
        ),
        state=a_thread(),
        books=BOOKS,
        audience=None,
        progress=ListeningProgress(),
    )
    (query,) = retriever.asked
    assert (query.filters.module, query.similarity_threshold, query.limit) == ("uploads", 0.2, 9)


async def test_too_many_searches_at_once_are_not_made() -> None:
    retriever = MemoryRetriever([LIMITS])
    model = ScriptedModel([search(*["upload files"] * 9), "Ten files a day [1]."])
    await ask(agent_with(model, retriever))
    assert len(retriever.asked) == 4
    results = [m for m in model.requests[1] if m.role is Role.TOOL]
    assert len(results) == 9
    assert "At most" in results[-1].content


@pytest.mark.parametrize(
    "text",
    ["hi", "Hello there!", "Thanks a lot!", "thank you", "Who are you?", "what can you do?", "Hola",
     "danke", "hey, what can you do?", "merci beaucoup", "👋 hi", "who made you?",
     "Are you an AI or a human?", "which model are you?", "Wer hat dich gemacht?",
     "Bist du eine KI?", "¿Quién te hizo?", "¿Eres una IA?", "Qui t'a créé ?", "Es-tu une IA ?",
     "how can you help me"],
)  # fmt: skip
async def test_small_talk_searches_nothing_and_cites_nothing(text: str) -> None:
    retriever = MemoryRetriever([LIMITS])
    model = ScriptedModel([])
    response = (await ask(agent_with(model, retriever), text)).response
    assert retriever.asked == []
    assert (response.outcome, response.confidence) == (Outcome.COMPLETED, 1.0)
    assert response.confidence_level is ConfidenceLevel.HIGH
    assert (response.citations, response.sources, response.retrieval_count) == ((), (), 0)


async def test_a_question_too_short_to_search_is_refused() -> None:
    response = (await ask(agent_with(ScriptedModel([])), "?!")).response
    assert response.outcome is Outcome.NO_RESULTS
    assert not response.should_answer


async def test_what_nothing_was_found_for_is_refused_before_the_model_writes() -> None:
    model = ScriptedModel([search("world cup winner"), search("football champions")])
    answered = await ask(agent_with(model), "Who won the world cup?")
    response = answered.response
    assert response.outcome is Outcome.NO_RESULTS
    assert response.answer == ENGLISH.not_covered
    assert response.confidence_level is ConfidenceLevel.INSUFFICIENT
    assert (response.citations, response.sources, response.suggestions) == ((), (), ())
    assert len(answered.turn.retrievals if answered.turn else ()) == 2


async def test_a_model_that_says_that_nothing_answers_is_a_refusal_with_suggestions() -> None:
    model = ScriptedModel([search("upload files"), NOT_COVERED])
    response = (await ask(agent_with(model))).response
    assert response.outcome is Outcome.NO_RESULTS
    assert (response.citations, response.sources) == ((), ())
    assert [s.section_heading for s in response.suggestions][:1] == ["Limits"]
    assert response.confidence < 0.5


async def test_an_answer_of_which_nothing_is_supported_gives_way_to_the_passages() -> None:
    model = ScriptedModel([search("upload files"), "Visit the moon with Captain Zorg in 1999 [1]."])
    response = (await ask(agent_with(model))).response
    assert response.outcome is Outcome.LOW_CONFIDENCE
    assert "Zorg" not in response.answer


async def test_a_refusal_speaks_the_asker_s_language() -> None:
    model = ScriptedModel([search("gibtsnicht"), search("nirgends")] * 2)
    agent = agent_with(model)
    german = (await ask(agent, "Wer hat die Weltmeisterschaft gewonnen und wie?")).response
    french = (await ask(agent, "World cup 1998?", locale="fr-CA")).response
    assert german.answer == "Die Dokumente behandeln diese Frage nicht."
    assert french.answer == "Les documents ne répondent pas à cette question."


async def test_a_forged_marker_never_leaves() -> None:
    model = ScriptedModel(
        [
            search("upload files"),
            "A member may upload ten files a day [9]. A file may have at most 25 MB [1][7].",
        ]
    )
    response = (await ask(agent_with(model, MemoryRetriever([LIMITS])))).response
    assert response.answer == (
        "A member may upload ten files a day. A file may have at most 25 MB [1]."
    )


async def test_every_marker_has_the_words_that_back_its_own_sentence() -> None:
    model = ScriptedModel(
        [
            search("upload files"),
            "Ten files a day may be uploaded [1]. Files of more than 25 MB are too large [1].",
        ]
    )
    response = (await ask(agent_with(model, MemoryRetriever([LIMITS])))).response
    assert [(mark.number, mark.quote) for mark in response.marks] == [
        (1, "Every member may upload ten files a day."),
        (1, "A file may have at most 25 MB."),
    ]
    assert response.quotes(1) == tuple(mark.quote for mark in response.marks)


async def test_where_nothing_of_a_draft_stands_the_passages_are_quoted() -> None:
    model = ScriptedModel([search("upload files"), "A member may upload 500 files [1]."])
    response = (await ask(agent_with(model, MemoryRetriever([LIMITS])))).response
    assert "> Every member may upload ten files a day." in response.answer
    assert response.outcome is Outcome.LOW_CONFIDENCE
    assert [each.text for each in response.removed] == ["A member may upload 500 files."]


async def test_the_verifier_is_asked_between_the_draft_and_the_answer() -> None:
    draft = "Ten files may be uploaded a day [1]. Bigger ones are for owners only [1]."
    verdicts = [
        {"claim": 1, "verdict": "supported", "reason": "",
         "words": [{"passage": 1, "text": "may upload ten files a day"}]},
        {"claim": 2, "verdict": "contradicted", "reason": "Nobody may.", "words": []},
    ]  # fmt: skip
    replies = [search("upload files"), draft, json.dumps({"verdicts": verdicts})]
    model = ScriptedModel(replies)
    agent = Agent(
        model=model,
        retriever=MemoryRetriever([LIMITS]),
        config=AgentConfig(),
        verifier=ModelVerifier(model),
    )
    response = (await ask(agent)).response
    assert response.answer == "Ten files may be uploaded a day [1]."
    assert response.marks[0].quote == "may upload ten files a day"
    assert response.checked_by == "model"
    assert response.tokens_used == 60 + 120 + 120
    assert response.outcome is Outcome.LOW_CONFIDENCE


async def test_the_tokens_of_every_check_are_counted() -> None:
    verdict = {"claim": 1, "verdict": "contradicted", "words": [], "reason": "No."}
    wrong = json.dumps({"verdicts": [verdict]})
    replies = [
        search("upload files"),
        "Bigger files are for owners only [1].",
        wrong,
        "Owners may upload bigger files [1].",
        wrong,
    ]
    model = ScriptedModel(replies)
    agent = Agent(
        model=model,
        retriever=MemoryRetriever([LIMITS]),
        config=AgentConfig(rewrites=True),
        verifier=ModelVerifier(model),
    )
    response = (await ask(agent)).response
    assert len(model.requests) == len(replies)
    assert response.tokens_used == 60 + 4 * 120


async def test_links_and_mentions_of_the_model_are_words() -> None:
    text = "Ten files a day [1]. @everyone upload files [here](https://evil.example) <@123> [1]."
    model = ScriptedModel([search("upload files"), text])
    response = (await ask(agent_with(model, MemoryRetriever([LIMITS])))).response
    for trick in ("@everyone", "](", "<@"):
        assert trick not in response.answer


async def test_stages_come_once_and_in_order_and_text_grows() -> None:
    progress = ListeningProgress()
    model = ScriptedModel([search("upload files"), "A member may upload ten files a day [1]."])
    await ask(agent_with(model), progress=progress)
    assert progress.stages == [QuestionState.RETRIEVING, QuestionState.GENERATING]
    assert progress.shown
    assert "A member may upload ten files a day [1].".startswith(progress.drafts[-1])


async def test_partial_text_has_passed_the_guard() -> None:
    progress = ListeningProgress()
    text = (
        "See [the limits](https://evil.example/x) <!channel> @everyone, ten files a day [1][8]. \n"
        "And so on."
    )
    model = ScriptedModel([search("upload files"), text])
    await ask(agent_with(model, MemoryRetriever([LIMITS])), progress=progress)
    assert progress.shown
    for shown in progress.drafts:
        for trick in ("](", "<!", "@everyone", "[8]"):
            assert trick not in shown
        assert "https://evil.example" not in shown.replace("`https://evil.example/x`", "")


async def test_text_that_was_lost_is_shown_no_more() -> None:
    progress = ListeningProgress()
    reply = CutOnce(lost="Something that was cut ", text="Ten files a day [1].")
    response = (
        await ask(agent_with(ScriptedModel([search("upload files"), reply])), progress=progress)
    ).response
    assert response.answer == "Ten files a day [1]."
    assert not progress.drafts[-1].startswith("Something")


@pytest.mark.parametrize("progress", [
    ListeningProgress(failure=RuntimeError("gone")), ListeningProgress(seconds=30),
])  # fmt: skip
async def test_progress_that_fails_or_hangs_does_not_hold_the_answer(
    progress: ListeningProgress,
) -> None:
    model = ScriptedModel([search("upload files"), "Ten files a day [1]."])
    response = (await ask(agent_with(model), progress=progress)).response
    assert response.answer == "Ten files a day [1]."


@pytest.mark.parametrize(
    ("model", "retriever"),
    [
        (ScriptedModel([search("upload")], seconds=30), MemoryRetriever([LIMITS])),
        (ScriptedModel([search("upload")]), MemoryRetriever([LIMITS], seconds=30)),
    ],
)
async def test_the_deadline_holds_for_model_and_search(
    model: ScriptedModel, retriever: MemoryRetriever
) -> None:
    with pytest.raises(AnswerTimedOut):
        await ask(agent_with(model, retriever, answer_seconds=0.05))


async def test_a_timeout_of_a_part_is_not_the_answer_s_deadline() -> None:
    model = ScriptedModel([TimeoutError()])
    with pytest.raises(TimeoutError) as raised:
        await ask(agent_with(model))
    assert not isinstance(raised.value, AnswerTimedOut)


async def test_a_failing_search_fails_the_answer_as_itself() -> None:
    retriever = MemoryRetriever([LIMITS], failure=UpstreamUnavailable("qdrant"))
    model = ScriptedModel([search("upload files", "files a day")])
    with pytest.raises(UpstreamUnavailable, match="qdrant"):
        await ask(agent_with(model, retriever))


@pytest.mark.parametrize(
    "reply",
    [
        Ending("Ten files a", FinishReason.LENGTH),
        Ending("Ten files a day [1].", FinishReason.FILTERED),
        Ending("Ten files a day [1].", None),
        Ending("  \n ", FinishReason.STOP),
        search("again and again"),
    ],
)
async def test_a_reply_that_is_not_whole_is_never_an_answer(reply: Any) -> None:
    model = ScriptedModel([search("upload files"), search("files a day"), reply])
    with pytest.raises(ModelBehaviourError):
        await ask(agent_with(model))


async def test_cancelling_leaves_no_task_behind() -> None:
    model = ScriptedModel([search("upload")], seconds=30)
    before = asyncio.all_tasks()
    task = asyncio.create_task(ask(agent_with(model)))
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert asyncio.all_tasks() == before


async def test_the_turn_keeps_what_was_asked_looked_up_and_answered() -> None:
    model = ScriptedModel([search("upload files"), "Ten files a day [1]."])
    state = a_thread()
    turn = (await ask(agent_with(model), "  How many FILES a day?  ", state=state)).turn
    assert turn is not None
    assert turn.session_id == state.session_id
    assert [m.role for m in turn.messages] == [Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT]
    assert turn.messages[0].content == "How many FILES a day?"
    assert turn.messages[2].tool_call_id == turn.messages[1].tool_calls[0].id
    assert turn.messages[-1].confidence is not None
    (record,) = turn.retrievals
    assert (record.query, record.results_count) == ("upload files", 1)
    assert record.avg_similarity > 0
    assert turn.metadata["standalone"] == "How many FILES a day?"


async def test_a_follow_up_is_searched_in_full_and_stored_as_asked() -> None:
    retriever = MemoryRetriever([LIMITS, INVITES])
    state = a_thread(
        messages=(
            Message.system("", at=NOON),
            Message.user("How long do guests stay?", at=NOON),
            Message.assistant("Guests stay for 30 days [1].", at=NOON, confidence=0.9),
        ),
        turn_count=1,
    )
    model = ScriptedModel(["no search", "A member invites guests from the members page [1]."])
    answered = await ask(agent_with(model, retriever), "and who invites them?", state=state)
    assert retriever.asked[0].text == "How long do guests stay? and who invites them?"
    assert retriever.earlier[0] == ("How long do guests stay?",)
    assert answered.turn is not None
    assert answered.turn.messages[0].content == "and who invites them?"
    assert answered.turn.metadata["standalone"] == retriever.asked[0].text
    assert model.requests[0][-1].content == "and who invites them?", "it is sent as it was asked"
    assert answered.turn.metadata["section"] == "Handbook › Guests"
    history = [m.content for m in model.requests[0]]
    assert "Guests stay for 30 days." in history  # without the marker of other evidence
