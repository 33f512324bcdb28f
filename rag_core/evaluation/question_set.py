"""A folder of pages and of questions about them, with what a right search would find."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_core.conversation.message import Role
from rag_core.errors import ConfigurationError
from rag_core.evaluation.json_lines import faults_of, ids, reading, rows
from rag_core.ingestion.job import FileFailure
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
    must: tuple[tuple[str, ...], ...] = ()
    """Groups of words: a right answer has one of each group."""
    support: str = ""
    """The words of the pages that an ideal answer would quote."""
    wanted: str = ""
    """What a right answer says, for people who read the report."""
    kind: str = ""
    is_natural: bool = False
    """Whether the turns before it are asked, too, and not taken from the set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSet:
    """The pages and the questions; a page's id stands for its file's name."""

    name: str
    pages: tuple[LoadedDocument, ...]
    questions: tuple[SetQuestion, ...]
    failures: tuple[FileFailure, ...] = ()
    """Files of the folder that cannot be read."""

    @property
    def lost_pages(self) -> Mapping[str, str]:
        """Relevant pages that the set does not hold, each with a question that names it: nothing
        can find them."""
        held = {page.source_file for page in self.pages}
        return {
            page: question.id
            for question in self.questions
            for page in sorted(question.relevant_ids)
            if page not in held
        }


def load_question_set(folder: Path, questions: Sequence[Path] = ()) -> QuestionSet:
    """Read a set. Blocks."""
    pages = listed_pages(folder)
    if pages is None:
        raise ConfigurationError(f"{folder} is not a question set: it needs {CORPUS} or {INDEX}.")
    asked = tuple(
        question for file in questions or [folder / QUESTIONS] for question in questions_in(file)
    )
    return QuestionSet(name=folder.resolve().name, pages=pages, questions=asked)


def listed_pages(folder: Path) -> tuple[LoadedDocument, ...] | None:
    """The pages that the folder names; None: it names none."""
    with reading(folder):
        has_corpus, has_index = (folder / CORPUS).is_file(), (folder / INDEX).is_file()
    if has_corpus:
        return tuple(corpus_pages(folder / CORPUS))
    return tuple(indexed_pages(folder)) if has_index else None


def corpus_pages(file: Path) -> Iterator[LoadedDocument]:
    for row in rows(file):
        with faults_of(row):
            yield passage_page(row.fields)


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
        with faults_of(row):
            yield file_page(row.fields, folder)


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
        with faults_of(row):
            yield question_of(row.fields)


def named_fields(row: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(row[name]) for name in ("title", "url") if row.get(name)}


def question_of(row: Mapping[str, Any]) -> SetQuestion:
    relevant = frozenset(ids(row, "relevant_ids"))
    answerable = row.get("answerable", bool(relevant))
    if not isinstance(answerable, bool):
        raise TypeError(f"answerable is true or false; it was {answerable!r}")
    if not str(row["question"]).strip():
        raise ValueError("question is empty")
    return SetQuestion(
        id=str(row["id"]),
        question=str(row["question"]),
        relevant_ids=relevant,
        answerable=answerable,
        history=history_of(row),
        near_ids=frozenset(ids(row, "near_ids")),
        gold_answers=tuple(ids(row, "gold_answers")),
        must=(tuple(ids(row, "gold_answers")),) if row.get("gold_answers") else (),
    )


def history_of(row: Mapping[str, Any]) -> tuple[Said, ...]:
    return tuple(
        Said(role=Role(said["role"]), text=str(said["text"])) for said in row.get("history") or ()
    )
