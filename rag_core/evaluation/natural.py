"""Questions as people ask them, and claims about pages, each judged by what the pages say."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path
from typing import Any

from rag_core.errors import ConfigurationError, IngestionError
from rag_core.evaluation.json_lines import Row, faults_of, ids, reading, rows
from rag_core.evaluation.question_set import (
    QuestionSet,
    SetQuestion,
    history_of,
    listed_pages,
    load_question_set,
)
from rag_core.ingestion.job import FileFailure
from rag_core.ingestion.loaders import LoadedDocument, Loader, load, read_source, title_of
from rag_core.ingestion.sources import find_files

LABELS = {"supported": True, "unsupported": False}
HASH_LETTERS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """A piece of a page that a claim is judged by."""

    page: str
    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledClaim:
    """One sentence of an answer, and whether its evidence says so."""

    id: str
    corpus: str
    question: str
    claim: str
    evidence: tuple[Excerpt, ...]
    is_supported: bool
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Materials:
    """What can be measured: questions about pages, and claims about excerpts."""

    sets: tuple[QuestionSet, ...] = ()
    claims: tuple[LabelledClaim, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusPlace:
    """Where the pages of a corpus lie, and the folder that their ids are relative to."""

    folder: Path
    root: Path

    def source_file(self, page: str) -> str:
        """What a page is called in a book that is read from the folder."""
        return page.removeprefix(f"{self.folder.relative_to(self.root).as_posix()}/")

    def piece(self, row: Mapping[str, Any]) -> str:
        """The text from `start` to `end` of a page; `sha`: it was this text."""
        file = self.root / str(row["page"])
        with reading(file):
            whole = file.read_bytes().decode("utf-8")  # with its line ends as they are
        text = whole[int(row["start"]) : int(row["end"])]
        wanted = str(row.get("sha") or "")
        if wanted and hashlib.sha256(text.encode()).hexdigest()[:HASH_LETTERS] != wanted:
            raise ValueError(f"{file} has changed: {row['start']} to {row['end']} is another text")
        return text


def load_materials(folders: Sequence[Path], files: Sequence[Path] = ()) -> Materials:
    """Question sets are folders; natural questions and claims are files about pages below these
    folders, and make one set for each corpus. Blocks."""
    if not files:
        return Materials(sets=tuple(map(load_question_set, folders)))
    plain: list[Path] = []
    natural: dict[str, list[Row]] = defaultdict(list)
    claims: dict[str, list[Row]] = defaultdict(list)
    for file in files_in(files):
        found = list(rows(file))
        forms = {form_of(row) for row in found}
        if forms <= {"question"}:
            plain.append(file)
            continue
        if len(forms) > 1:
            raise ConfigurationError(f"{file}: questions and claims stand in files of their own.")
        into = claims if forms == {"claim"} else natural
        for row in found:
            into[str(row.fields.get("corpus") or file.stem)].append(row)
    if plain and len(folders) > 1:
        raise ConfigurationError(
            f"{plain[0]} has plain questions: name the one folder that holds their pages."
        )
    sets = [load_question_set(folders[0], plain)] if plain else []
    sets += [natural_set(name, found, folders) for name, found in natural.items()]
    labelled = [claims_of(name, found, folders) for name, found in claims.items()]
    return Materials(sets=tuple(sets), claims=tuple(chain.from_iterable(labelled)))


def files_in(files: Sequence[Path]) -> Iterator[Path]:
    """A folder stands for its JSON Lines files."""
    for file in files:
        with reading(file):
            found = sorted(file.glob("*.jsonl")) if file.is_dir() else [file]
        if not found:
            raise ConfigurationError(f"{file} holds no .jsonl file.")
        yield from found


def form_of(row: Row) -> str:
    return next((name for name in ("claim", "covered") if name in row.fields), "question")


def natural_set(name: str, found: Sequence[Row], folders: Sequence[Path]) -> QuestionSet:
    place = place_of(name, found, folders)
    pages = listed_pages(place.folder)
    failures: tuple[FileFailure, ...] = ()
    if pages is None:
        pages, failures = folder_pages(place.folder)
    questions = []
    for row in found:
        with faults_of(row):
            questions.append(natural_question(row.fields, place))
    return QuestionSet(name=name, pages=pages, questions=tuple(questions), failures=failures)


def place_of(corpus: str, found: Sequence[Row], folders: Sequence[Path]) -> CorpusPlace:
    """The folder of the corpus' name below one of these, else the one that has its pages, which are
    looked for below a folder and then beside it."""
    resolved = [folder.resolve() for folder in folders]
    for folder in resolved:
        if (folder / corpus).is_dir():
            return CorpusPlace(folder=folder / corpus, root=folder)
    named = [page for row in found for page in pages_named(row)]
    for folder in resolved:
        for root, page in product((folder, folder.parent), named):
            if (root / page).is_file() and (root / page).is_relative_to(folder):
                return CorpusPlace(folder=folder, root=root)
    for folder in resolved:
        if {page.source_file for page in listed_pages(folder) or ()} & set(named):
            return CorpusPlace(folder=folder, root=folder)
    places = ", ".join(map(str, folders))
    raise ConfigurationError(
        f"{found[0]}: the pages of {corpus} are missing. There is no folder {corpus} in {places},"
        f" and {named[0] if named else 'no page that it names'} is not there."
    )


def pages_named(row: Row) -> list[str]:
    with faults_of(row):
        evidence = [str(piece["page"]) for piece in row.fields.get("evidence") or ()]
        return [*ids(row.fields, "gold"), *ids(row.fields, "near"), *evidence]


def folder_pages(folder: Path) -> tuple[tuple[LoadedDocument, ...], tuple[FileFailure, ...]]:
    """The documents below a folder, named as ingestion names them, and what cannot be read."""
    found = find_files([str(folder)])
    pages, failures = [], list(found.failures)
    with Loader() as loader:
        for file in found.files:
            try:
                pages.append(loader.load(file.source_file, read_source(file)))
            except IngestionError as error:
                failures.append(FileFailure(source_file=file.source_file, reason=error.reason))
    return tuple(pages), tuple(failures)


def natural_question(row: Mapping[str, Any], place: CorpusPlace) -> SetQuestion:
    if not isinstance(row["covered"], bool):
        raise TypeError(f"covered is true or false; it was {row['covered']!r}")
    if not str(row["question"]).strip():
        raise ValueError("question is empty")
    gold = ids(row, "gold")
    must = row.get("must") or []
    if not isinstance(must, list) or not all(isinstance(group, list) and group for group in must):
        raise TypeError(f'must is a list of lists, as in [["a", "b"], ["c"]]; it was {must!r}')
    if row["covered"] and not (gold and must):
        raise ValueError("a covered question needs gold and must")
    support = (
        str(piece["text"]) if "text" in piece else place.piece(piece)
        for piece in row.get("support") or ()
    )
    return SetQuestion(
        id=str(row["id"]),
        question=str(row["question"]),
        relevant_ids=frozenset(map(place.source_file, gold)),
        answerable=row["covered"],
        history=history_of(row),
        near_ids=frozenset(map(place.source_file, ids(row, "near"))),
        must=tuple(tuple(map(str, group)) for group in must),
        support=" ".join(support),
        wanted=str(row.get("wanted") or ""),
        kind=str(row.get("kind") or ""),
        is_natural=True,
    )


def claims_of(
    corpus: str, found: Sequence[Row], folders: Sequence[Path]
) -> Iterator[LabelledClaim]:
    place = place_of(corpus, found, folders)
    for row in found:
        with faults_of(row):
            yield labelled_claim(row.fields, corpus, place)


def labelled_claim(row: Mapping[str, Any], corpus: str, place: CorpusPlace) -> LabelledClaim:
    label = row["label"]
    if label not in LABELS:
        raise ValueError(f"label is {' or '.join(LABELS)}; it was {label!r}")
    if not row["evidence"]:
        raise ValueError("evidence is empty")
    return LabelledClaim(
        id=str(row["id"]),
        corpus=corpus,
        question=str(row.get("question") or ""),
        claim=str(row["claim"]),
        evidence=tuple(excerpt(piece, place) for piece in row["evidence"]),
        is_supported=LABELS[label],
        kind=str(row.get("kind") or ""),
    )


def excerpt(row: Mapping[str, Any], place: CorpusPlace) -> Excerpt:
    """The piece as the product would show it."""
    page = str(row["page"])
    document = load(page, place.piece(row).encode())
    return Excerpt(
        page=place.source_file(page),
        title=title_of(page, document.fields, None),
        text=document.text,
    )
