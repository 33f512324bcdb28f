"""Threads, searches, books, jobs, ratings and probes over HTTP, as the contract has them."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from adapters.web.documents.schemas import (
    BooksModel,
    JobModel,
    JobsModel,
    LessonModel,
    SearchResponseModel,
    ThreadModel,
    ThreadsModel,
)
from rag_core.ingestion.job import FileFailure, JobStatus
from tests.fakes.web_house import House
from tests.fakes.web_values import START
from tests.fakes.web_visit import a_config, at_the_private_door, visiting, with_keys

ASK = {"message": "How often may a key ask?"}


async def test_the_callers_threads_are_listed_the_last_used_first() -> None:
    async with visiting(House()) as client:
        sessions = [(await client.post("/chat/run", json=ASK)).json()["session_id"] for _ in "ab"]
        await client.post("/chat/run", json=ASK | {"session_id": sessions[0]})
        listed = ThreadsModel.model_validate((await client.get("/threads")).json())
    assert [str(thread.session_id) for thread in listed.threads] == sessions
    assert [thread.turn_count for thread in listed.threads] == [2, 1]


async def test_a_thread_shows_what_was_said_and_not_what_the_operator_instructed() -> None:
    async with visiting(House()) as client:
        session = (await client.post("/chat/run", json=ASK)).json()["session_id"]
        answer = await client.get(f"/threads/{session}")
    thread = ThreadModel.model_validate(answer.json())
    assert [message.role for message in thread.messages] == ["system", "user", "assistant"]
    assert thread.messages[0].content == ""
    assert thread.messages[1].content == ASK["message"]
    assert "Secret instructions" not in answer.text


async def test_a_deleted_thread_is_gone_with_what_its_stream_remembered() -> None:
    house = House()
    async with visiting(house) as client:
        session = (await client.post("/chat/run", json=ASK)).json()["session_id"]
        deleted = await client.delete(f"/threads/{session}")
        assert (deleted.status_code, deleted.content) == (204, b"")
        assert (await client.get(f"/threads/{session}")).status_code == 404
        assert (await client.delete(f"/threads/{session}")).status_code == 404
        assert (await client.get("/threads")).json() == {"threads": []}
    assert house.replies.remembered == 0


async def test_a_search_tells_what_was_found_and_under_which_conditions() -> None:
    async with visiting(House()) as client:
        answer = await client.post("/search", json={"text": "requests", "module": "module-1"})
    found = SearchResponseModel.model_validate(answer.json())
    assert found.total_found == len(found.results) == 2
    assert [result.rank for result in found.results] == [1, 2]
    assert found.filter_applied["module"] == "module-1"
    assert found.filter_applied["book_ids"] == ["course"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"text": "ab"}, "text"),
        ({"text": "abc", "limit": 0}, "limit"),
        ({"text": "abc", "limit": 11}, "limit"),
        ({"text": "abc", "module": "nope"}, "module"),
        ({"text": "abc", "similarity_threshold": -0.1}, "similarity_threshold"),
        ({"text": "abc", "released_at": "2026-01-01"}, "released_at"),
    ],
)
async def test_a_search_outside_its_bounds_names_the_field(body: Any, field: str) -> None:
    async with visiting(House()) as client:
        answer = await client.post("/search", json=body)
    assert answer.status_code == 422
    assert [error["field"] for error in answer.json()["errors"]] == [field]


async def test_the_command_line_may_ask_for_more_results_than_http() -> None:
    async with at_the_private_door(House()) as client:
        many = await client.post("/search", json={"text": "requests", "limit": 100})
        too_many = await client.post("/search", json={"text": "requests", "limit": 101})
    assert [many.status_code, too_many.status_code] == [200, 422]


async def test_a_lesson_comes_in_reading_order_without_scores() -> None:
    async with visiting(House()) as client:
        answer = await client.get("/lessons/lesson-1")
    lesson = LessonModel.model_validate(answer.json())
    assert [chunk.chunk_index for chunk in lesson.chunks] == [0, 1]
    assert lesson.page_title == "Limits"
    assert "score" not in answer.text


async def test_books_are_listed_as_the_command_line_lists_them() -> None:
    async with visiting(House()) as client:
        books = BooksModel.model_validate((await client.get("/books")).json()).books
    assert [(book.book_id, book.files) for book in books] == [("course", 3), ("staff", 0)]


async def test_a_job_is_started_watched_and_cancelled(tmp_path: Path) -> None:
    house = House()
    async with visiting(house, a_config(job_folders=(tmp_path,))) as client:
        body = {"book_id": "course", "paths": [str(tmp_path)], "mode": "full", "title": "T"}
        started = await client.post("/jobs", json=body)
        assert started.status_code == 202
        job = JobModel.model_validate(started.json())
        assert (job.status, job.mode) == ("queued", "full")
        listed = JobsModel.model_validate((await client.get("/jobs")).json())
        assert [other.job_id for other in listed.jobs] == [job.job_id]
        cancelled = await client.delete(f"/jobs/{job.job_id}")
        assert (cancelled.status_code, cancelled.json()["status"]) == (202, "cancelled")
        over = await client.delete(f"/jobs/{job.job_id}")
        assert over.status_code == 409
        assert (await client.get(f"/jobs/{job.job_id}")).json()["status"] == "cancelled"


async def test_a_job_lists_the_files_that_could_not_be_read() -> None:
    house = House()
    async with visiting(house) as client:
        body = {"book_id": "course", "urls": ["https://docs.example.com/a"]}
        job_id = (await client.post("/jobs", json=body)).json()["job_id"]
        job = house.jobs.jobs[UUID(job_id)]
        house.jobs.jobs[UUID(job_id)] = replace(
            job,
            status=JobStatus.COMPLETED,
            completed_at=START,
            duration_seconds=0.5,
            files_failed=1,
            failures=(FileFailure(source_file="a.md", reason="not text"),),
        )
        shown = JobModel.model_validate((await client.get(f"/jobs/{job_id}")).json())
    assert shown.failures[0].reason == "not text"


async def test_files_are_read_only_below_the_folders_that_were_listed(tmp_path: Path) -> None:
    inside, outside = tmp_path / "docs", tmp_path / "private"
    for folder in (inside, outside):
        folder.mkdir()
    (inside / "link").symlink_to(outside)
    tries = [outside, inside / ".." / "private", inside / "link", tmp_path, Path("/etc/passwd")]
    house = House()
    async with visiting(house, a_config(job_folders=(inside,))) as client:
        for path in tries:
            body = {"book_id": "course", "paths": [str(path)]}
            answer = await client.post("/jobs", json=body)
            assert answer.status_code == 422, path
            assert answer.json()["errors"][0]["field"] == "paths"
    async with visiting(house) as client:
        body = {"book_id": "course", "paths": [str(inside)]}
        assert (await client.post("/jobs", json=body)).status_code == 422
    assert not house.jobs.jobs
    async with at_the_private_door(house) as client:
        body = {"book_id": "course", "paths": [str(outside)]}
        assert (await client.post("/jobs", json=body)).status_code == 202


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"book_id": "Not A Book"}, "book_id"),
        ({"urls": None}, "paths"),
        ({"urls": ["file:" + "///etc/passwd"]}, "urls"),
        ({"urls": ["https://"]}, "urls"),
        ({"urls": ["http://[::1"]}, "urls"),
        ({"urls": []}, "urls"),
        ({"base_url": "javascript:alert(1)"}, "base_url"),
        ({"mode": "fast"}, "mode"),
        ({"owner": "me"}, "owner"),
    ],
)
async def test_a_job_that_cannot_be_is_refused_by_its_field(change: Any, field: str) -> None:
    house = House()
    body = {"book_id": "course", "urls": ["https://docs.example.com"]} | change
    async with visiting(house) as client:
        answer = await client.post("/jobs", json=body)
    assert answer.status_code == 422
    assert [error["field"] for error in answer.json()["errors"]] == [field]
    assert not house.jobs.jobs


async def test_an_admin_key_runs_jobs_over_its_own_books_only() -> None:
    house = House()
    config = with_keys("course-admin:admin:course,staff-admin:admin:staff")
    urls = ["https://docs.example.com"]
    async with visiting(house, config, key="course-admin") as client:
        own = await client.post("/jobs", json={"book_id": "course", "urls": urls})
        other = await client.post("/jobs", json={"book_id": "staff", "urls": urls})
    assert [own.status_code, other.status_code] == [202, 404]
    async with visiting(house, config, key="staff-admin") as client:
        assert (await client.get("/jobs")).json() == {"jobs": []}
        assert (await client.get(f"/jobs/{own.json()['job_id']}")).status_code == 404


async def test_a_rating_is_kept_with_its_reason_and_can_be_changed() -> None:
    house = House()
    async with visiting(house) as client:
        answer_id = (await client.post("/chat/run", json=ASK)).json()["answer_id"]
        good = {"answer_id": answer_id, "rating": "helpful"}
        bad = {"answer_id": answer_id, "rating": "not_helpful", "reason": "Wrong page"}
        assert (await client.post("/feedback", json=good)).status_code == 204
        assert list(house.feedback.ratings.values()) == [(True, "")]
        assert (await client.post("/feedback", json=bad)).status_code == 204
    assert list(house.feedback.ratings.values()) == [(False, "Wrong page")]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"answer_id": "nope", "rating": "helpful"}, 404),
        ({"answer_id": "5b0c8a52-6a53-4a8e-9a55-1f5b8d3f2c11", "rating": "helpful"}, 404),
        ({"answer_id": "5b0c8a52-6a53-4a8e-9a55-1f5b8d3f2c11", "rating": "great"}, 422),
        ({"rating": "helpful"}, 422),
    ],
)
async def test_a_rating_of_nothing_is_refused(body: Any, status: int) -> None:
    house = House()
    async with visiting(house) as client:
        assert (await client.post("/feedback", json=body)).status_code == status
    assert not house.feedback.ratings


async def test_readiness_names_what_is_missing(caplog: pytest.LogCaptureFixture) -> None:
    house = House()
    async with visiting(house) as client:
        assert (await client.get("/readyz")).status_code == 200
        house.checks["index"] = False
        answer = await client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"] == {"database": True, "index": False}
    assert "index" in answer.json()["detail"]
    assert "retry-after" in answer.headers
    assert not [r for r in caplog.records if r.levelno >= logging.WARNING]  # it asks every second


async def test_what_was_counted_is_told_as_text() -> None:
    async with visiting(House()) as client:
        answer = await client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    assert b"footnote_questions_total" in answer.content


def references(node: Any) -> set[str]:
    if isinstance(node, dict):
        own = {node["$ref"]} if "$ref" in node else set()
        return own.union(*(references(value) for value in node.values()))
    if isinstance(node, list):
        return set().union(*(references(value) for value in node))
    return set()


async def test_the_description_is_whole_and_shows_examples() -> None:
    async with visiting(House()) as client:
        document = (await client.get("/openapi.json")).json()
    schemas = document["components"]["schemas"]
    assert {ref.rpartition("/")[2] for ref in references(document)} <= schemas.keys()
    assert "HTTPValidationError" not in schemas
    for name in ("ChatBody", "SearchBody", "JobBody", "FeedbackBody", "AgentResponseModel"):
        assert schemas[name]["examples"]
    assert schemas["ChatBody"]["properties"]["top_k"]["maximum"] == 10
    assert schemas["ChatBody"]["additionalProperties"] is False
    assert set(document["paths"]) == {
        "/chat/run", "/chat/stream", "/threads", "/threads/{session_id}", "/search",
        "/lessons/{parent_doc_id}", "/books", "/jobs", "/jobs/{job_id}", "/feedback",
        "/livez", "/readyz", "/metrics",
        "/gaps", "/gaps/markdown", "/gaps/csv", "/gaps/{gap_id}", "/stats", "/policies",
        "/uploads/{book_id}", "/uploads/{book_id}/{path}",
    }  # fmt: skip


async def test_the_description_names_keys_where_they_are_asked_for() -> None:
    async with visiting(House(), with_keys(), key="ask-key-1") as client:
        keyed = (await client.get("/openapi.json")).json()
    async with visiting(House(), a_config(open_loopback=True), key="") as client:
        open_to_all = (await client.get("/openapi.json")).json()
    assert keyed["security"] == [{"key": []}]
    assert keyed["components"]["securitySchemes"]["key"]["scheme"] == "bearer"
    assert keyed["paths"]["/livez"]["get"]["security"] == []
    assert "security" not in keyed["paths"]["/books"]["get"]
    assert "security" not in open_to_all
