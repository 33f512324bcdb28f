"""A folder of pages and of questions about them, with what a right search would find."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_core.conversation.message import Role
from rag_core.errors import ConfigurationError
from rag_core.ingestion.loaders import LoadedDocument, file_hash, load

CORPUS, INDEX, QUESTIONS = "corpus.jsonl", "index.jsonl", "questions.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One turn of the conversation before a question."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetQuestion:
    """One question of a set."""

    id: str
    question: str
    relevant_ids: frozenset[str]
    answerable: bool
    history: tuple[Said, ...] = ()
    near_ids: frozenset[str] = frozenset()
    gold_answers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSet:
    """The pages and the questions; a page's id stands for its file's name."""

    name: str
    pages: tuple[LoadedDocument, ...]
    questions: tuple[SetQuestion, ...]


def load_question_set(folder: Path, questions: Sequence[Path] = ()) -> QuestionSet:
    """Read a set. Blocks."""
    if (folder / CORPUS).is_file():
        pages = tuple(corpus_pages(folder / CORPUS))
    elif (folder / INDEX).is_file():
        pages = tuple(indexed_pages(folder))
    else:
        raise ConfigurationError(f"{folder} is not a question set: it needs {CORPUS} or {INDEX}.")
    asked = tuple(
        question for file in questions or [folder / QUESTIONS] for question in questions_in(file)
    )
    return QuestionSet(name=folder.resolve().name, pages=pages, questions=asked)


def corpus_pages(file: Path) -> Iterator[LoadedDocument]:
    for row in rows(file):
        with faults_of(row, file):
            yield passage_page(row)


def passage_page(row: Mapping[str, Any]) -> LoadedDocument:
    text = str(row["text"])
    return LoadedDocument(
        source_file=str(row["id"]),
        file_hash=file_hash(f"{row.get('title')}\n{text}".encode()),
        text=text,
        is_markdown=True,
        fields=named_fields(row),
    )


def indexed_pages(folder: Path) -> Iterator[LoadedDocument]:
    for row in rows(folder / INDEX):
        with faults_of(row, folder / INDEX):
            yield file_page(row, folder)


def file_page(row: Mapping[str, Any], folder: Path) -> LoadedDocument:
    path = folder / str(row["path"])
    if not path.is_file():
        path = folder.parent / str(row["path"])
    document = load(path.name, path.read_bytes())
    return LoadedDocument(
        source_file=str(row["id"]),
        file_hash=document.file_hash,
        text=document.text,
        is_markdown=document.is_markdown,
        fields={**document.fields, **named_fields(row)},
    )


def questions_in(file: Path) -> Iterator[SetQuestion]:
    for row in rows(file):
        with faults_of(row, file):
            yield question_of(row)


@contextlib.contextmanager
def faults_of(row: Mapping[str, Any], file: Path) -> Iterator[None]:
    """What a row lacks or has in another form is for the set's author to put right."""
    try:
        yield
    except KeyError as error:
        raise ConfigurationError(f"{file}, id {row['id']}: there is no {error}.") from error
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"{file}, id {row['id']}: {error}.") from error
    except OSError as error:
        reason = f"{error.filename} cannot be read ({error.strerror})"
        raise ConfigurationError(f"{file}, id {row['id']}: {reason}.") from error


def named_fields(row: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(row[name]) for name in ("title", "url") if row.get(name)}


def question_of(row: Mapping[str, Any]) -> SetQuestion:
    relevant = frozenset(map(str, row.get("relevant_ids") or ()))
    return SetQuestion(
        id=str(row["id"]),
        question=str(row["question"]),
        relevant_ids=relevant,
        answerable=bool(row.get("answerable", bool(relevant))),
        history=tuple(
            Said(role=Role(said["role"]), text=str(said["text"]))
            for said in row.get("history") or ()
        ),
        near_ids=frozenset(map(str, row.get("near_ids") or ())),
        gold_answers=tuple(map(str, row.get("gold_answers") or ())),
    )


def rows(file: Path) -> Iterator[Mapping[str, Any]]:
    """The lines of a JSON Lines file; a broken one is named by its number."""
    try:
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield row_of(line, file, number)
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be read ({error.strerror}).") from error


def row_of(line: str, file: Path, number: int) -> Mapping[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise ConfigurationError(f"{file}, line {number}: this is not JSON.") from error
    if not isinstance(row, dict) or "id" not in row:
        raise ConfigurationError(f"{file}, line {number}: an object with an id is expected.")
    return row
