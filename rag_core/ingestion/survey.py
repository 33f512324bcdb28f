"""What a run has to do: which files are new, changed, gone or not to be read."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path

from rag_core.errors import IngestionError
from rag_core.ingestion.course import course_place
from rag_core.ingestion.headings import Site
from rag_core.ingestion.identity import LessonClaim, lesson_owners
from rag_core.ingestion.job import FileFailure, IngestionMode, IngestionRecord
from rag_core.ingestion.loaders import fields_of, file_hash, read_source
from rag_core.ingestion.sources import SourceFile, find_files


@dataclass(frozen=True, slots=True, kw_only=True)
class Surveyed:
    """One readable file, as it is now."""

    file: SourceFile
    hash: str
    claim: LessonClaim | None


@dataclass(frozen=True, kw_only=True)
class Known:
    """What earlier runs left: the database's records, and the versions that readers see."""

    records: Mapping[str, IngestionRecord]
    shown: Mapping[str, int]

    def is_whole(self, source_file: str) -> bool:
        """Whether the index shows what the database says of a file."""
        record = self.records.get(source_file)
        if record is None:
            return False
        return self.shown.get(source_file) == (record.version if record.chunk_ids else None)

    def same_text(self, surveyed: Surveyed) -> IngestionRecord | None:
        """What the file left when it was read last, or the same file under another name: its
        vectors need not be made again."""
        return self.records.get(surveyed.file.source_file) or self._by_hash.get(surveyed.hash)

    @cached_property
    def _by_hash(self) -> Mapping[str, IngestionRecord]:
        return {record.file_hash: record for record in self.records.values()}

    def next_version(self, source_file: str) -> int:
        record = self.records.get(source_file)
        return 1 + max(record.version if record else 0, self.shown.get(source_file, 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be done, file by file."""

    to_read: tuple[Surveyed, ...]
    skipped: int
    done: int
    """Files that this job had read already when it was cut off."""
    gone: tuple[str, ...]
    failures: tuple[FileFailure, ...]
    owners: Mapping[LessonClaim, str]
    notices: tuple[str, ...]
    found: frozenset[str] = frozenset()
    """All files that were there when the run began, by name."""

    def owns_lesson(self, surveyed: Surveyed) -> bool:
        return surveyed.claim is None or self.owners[surveyed.claim] == surveyed.file.source_file


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """How much of what is found is read anew."""

    mode: IngestionMode
    since: datetime
    """What was read after this was read by the same job, before it was cut off."""
    links_changed: bool = False
    site: Site | None = None
    """What publishes the pages, where the job names it."""

    def has_done(self, surveyed: Surveyed, known: Known) -> bool:
        name = surveyed.file.source_file
        record = known.records.get(name)
        return (
            record is not None
            and record.file_hash == surveyed.hash
            and record.ingested_at >= self.since
            and known.is_whole(name)
        )

    def wants(self, surveyed: Surveyed, known: Known, *, owner_changed: bool) -> bool:
        name = surveyed.file.source_file
        record = known.records.get(name)
        if record is None or record.file_hash != surveyed.hash or not known.is_whole(name):
            return True
        if self.has_done(surveyed, known):
            return False
        return owner_changed or self.links_changed or self.mode is not IngestionMode.INCREMENTAL


def plan_run(sources: Sequence[str], known: Known, scope: Scope) -> Plan:
    """Look at every file once. Blocks: it reads all of them to know which have changed."""
    found = find_files(sources, site=scope.site)
    failures = list(found.failures)
    surveyed: list[Surveyed] = []
    for file in found.files:
        try:
            surveyed.append(survey(file, known))
        except IngestionError as error:
            failures.append(FileFailure(source_file=file.source_file, reason=error.reason))
    seen = {each.file.source_file for each in surveyed}
    unseen = {name: record for name, record in known.records.items() if name not in seen}
    failed = {f.source_file for f in failures}
    gone = gone_files(sources, unseen, failed | kept(unseen, found.partly_seen), scope.mode)
    strays = known.shown.keys() - known.records.keys() - seen
    staying = [(name, claim_of(record)) for name, record in unseen.items() if name not in gone]
    owners = lesson_owners([*((s.file.source_file, s.claim) for s in surveyed), *staying])
    before = lesson_owners((name, claim_of(record)) for name, record in known.records.items())
    to_read = tuple(
        each
        for each in surveyed
        if scope.wants(each, known, owner_changed=changed_hands(each, owners, before))
    )
    done = sum(scope.has_done(each, known) for each in surveyed)
    return Plan(
        to_read=to_read,
        skipped=len(surveyed) - len(to_read) - done,
        done=done,
        gone=tuple(sorted(gone | strays)),
        failures=tuple(failures),
        owners=owners,
        notices=(*found.notices, *contested(surveyed, owners)),
        found=frozenset(seen | failed),
    )


def late_files(sources: Sequence[str], plan: Plan, site: Site | None) -> list[str]:
    """Files that appeared after the plan was made. Blocks."""
    found = find_files(sources, site=site)
    return sorted({file.source_file for file in found.files} - plan.found)


def survey(file: SourceFile, known: Known) -> Surveyed:
    """A file's hash and the lesson it claims; an unchanged one claims what it did before."""
    content = read_source(file)
    now = file_hash(content)
    record = known.records.get(file.source_file)
    if record is not None and record.file_hash == now:
        return Surveyed(file=file, hash=now, claim=claim_of(record))
    claim = course_place(file.source_file, fields_of(file.source_file, content)).claim
    return Surveyed(file=file, hash=now, claim=claim)


def claim_of(record: IngestionRecord) -> LessonClaim | None:
    if record.module is None or record.chapter is None or record.lesson is None:
        return None
    return record.module, record.chapter, record.lesson


def changed_hands(
    surveyed: Surveyed, now: Mapping[LessonClaim, str], before: Mapping[LessonClaim, str]
) -> bool:
    """Whether a file won or lost its lesson to another one: its ids change with that."""
    if surveyed.claim is None:
        return False
    name = surveyed.file.source_file
    return (now.get(surveyed.claim) == name) != (before.get(surveyed.claim) == name)


def gone_files(
    sources: Sequence[str],
    unseen: Mapping[str, IngestionRecord],
    failed: set[str],
    mode: IngestionMode,
) -> set[str]:
    """Files that were read once and are not there now; only a whole folder can tell that."""
    folders = {str(Path(source).resolve()) for source in sources if os.path.isdir(source)}
    whole = len(folders) == len(sources)
    return {
        name
        for name, record in unseen.items()
        if name not in failed
        and (
            mode is IngestionMode.RECREATE or (record.source in folders if record.source else whole)
        )
    }


def kept(unseen: Mapping[str, IngestionRecord], partly_seen: Collection[str]) -> set[str]:
    """Files of sources that were seen in part: they may lie where nobody could look."""
    return {
        name
        for name, record in unseen.items()
        if record.source in partly_seen or (partly_seen and not record.source)
    }


def contested(surveyed: Sequence[Surveyed], owners: Mapping[LessonClaim, str]) -> list[str]:
    """Says which files claim a lesson that another file has."""
    return [
        f"{each.file.source_file} claims the lesson of {owners[each.claim]}"
        " and is kept as a page of its own"
        for each in surveyed
        if each.claim is not None and owners[each.claim] != each.file.source_file
    ]
