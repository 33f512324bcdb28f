"""A folder of pages and of questions about them, with what a right search would find."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_core.conversation.message import Role
from rag_core.errors import ConfigurationError, IngestionError
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
    with reading(folder):
        has_corpus, has_index = (folder / CORPUS).is_file(), (folder / INDEX).is_file()
    if has_corpus:
        pages = tuple(corpus_pages(folder / CORPUS))
    elif has_index:
        pages = tuple(indexed_pages(folder))
    else:
        raise ConfigurationError(f"{folder} is not a question set: it needs {CORPUS} or {INDEX}.")
    asked = tuple(
        question for file in questions or [folder / QUESTIONS] for question in questions_in(file)
    )
    return QuestionSet(name=folder.resolve().name, pages=pages, questions=asked)


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


@contextlib.contextmanager
def faults_of(row: Row) -> Iterator[None]:
    """What a row lacks or has in another form is for the set's author to put right."""
    try:
        yield
    except KeyError as error:
        raise ConfigurationError(f"{row}: there is no {error}.") from error
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"{row}: {error}.") from error
    except IngestionError as error:
        raise ConfigurationError(f"{row}: {error}") from error
    except OSError as error:
        reason = f"{error.filename} cannot be read ({error.strerror})"
        raise ConfigurationError(f"{row}: {reason}.") from error


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
        history=tuple(
            Said(role=Role(said["role"]), text=str(said["text"]))
            for said in row.get("history") or ()
        ),
        near_ids=frozenset(ids(row, "near_ids")),
        gold_answers=tuple(ids(row, "gold_answers")),
    )


def ids(row: Mapping[str, Any], name: str) -> list[str]:
    """A list; one text alone would be taken for its letters."""
    found = row.get(name) or []
    if not isinstance(found, list):
        raise TypeError(f'{name} is a list, as in ["a", "b"]; it was {found!r}')
    return [str(each) for each in found]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of a JSON Lines file, and where it stands."""

    file: Path
    line: int
    fields: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.file}, line {self.line} (id {self.fields['id']})"


def rows(file: Path) -> Iterator[Row]:
    """The lines of a JSON Lines file; a broken one is named by its number."""
    known: dict[str, int] = {}
    with reading(file), file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            row = Row(file=file, line=number, fields=fields_of(line, file, number))
            first = known.setdefault(str(row.fields["id"]), number)
            if first != number:
                raise ConfigurationError(f"{row}: line {first} has the same id.")
            yield row


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """What this user may not read is named."""
    try:
        yield
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read ({error.strerror}).") from error


def fields_of(line: bytes, file: Path, number: int) -> Mapping[str, Any]:
    try:
        fields = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{file}, line {number}: this is not UTF-8.") from error
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{file}, line {number}: this is not JSON.") from error
    if not isinstance(fields, dict) or "id" not in fields:
        raise ConfigurationError(f"{file}, line {number}: an object with an id is expected.")
    return fields
