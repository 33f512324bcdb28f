"""Where a file stands in a course: from its front matter, else from its path."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import PurePosixPath
from typing import Any, TypedDict

from rag_core.ingestion.identity import LessonClaim
from rag_core.retrieval.query import MAX_CHAPTER, MAX_LESSON, MAX_TIER, MIN_TIER, Layer, Proficiency

MODULE_FOLDER = re.compile(r"module[-_ ]?\d+(?:[-_ .].*)?", re.IGNORECASE)
CHAPTER_FOLDER = re.compile(r"chapter[-_ ]?(\d+)(?:[-_ .].*)?", re.IGNORECASE)
LESSON_NAME = re.compile(r"(?:lesson[-_ ]?)?(\d+)(?:[-_ .].*)?", re.IGNORECASE)
FOLDER_PAGE = {"readme", "index"}

ASSUMED_LEVEL = Proficiency.A2
ASSUMED_LAYER = Layer.L1


class CourseFields(TypedDict):
    """The course fields as metadata names them."""

    module: str | None
    chapter: int | None
    lesson: int | None
    hardware_tier: int | None
    proficiency_level: str | None
    layer: str | None
    released_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CoursePlace:
    """The course fields of one file; all empty for a plain document."""

    module: str | None = None
    chapter: int | None = None
    lesson: int | None = None
    hardware_tier: int | None = None
    proficiency_level: str | None = None
    layer: str | None = None
    released_at: datetime | None = None
    notices: tuple[str, ...] = ()

    def fields(self) -> CourseFields:
        """What a chunk's metadata takes over."""
        return {
            "module": self.module,
            "chapter": self.chapter,
            "lesson": self.lesson,
            "hardware_tier": self.hardware_tier,
            "proficiency_level": self.proficiency_level,
            "layer": self.layer,
            "released_at": self.released_at,
        }

    @property
    def claim(self) -> LessonClaim | None:
        """The lesson that this file says it is."""
        if self.module is None or self.chapter is None or self.lesson is None:
            return None
        return self.module, self.chapter, self.lesson


def course_place(source_file: str, fields: Mapping[str, Any]) -> CoursePlace:
    """The course fields, each from the front matter or else the path; odd values are noted."""
    reader = FieldReader(fields)
    module, chapter, lesson = place_by_path(PurePosixPath(source_file))
    if "module" in fields:
        module = reader.text("module")
    chapter = reader.number("chapter", chapter, 0, MAX_CHAPTER)
    if lesson is not None and module is None and chapter is None:
        lesson = None  # a numbered file of plain documents is not a lesson of a course
    lesson = reader.number("lesson", lesson, 0, MAX_LESSON)
    tier = reader.number("hardware_tier", None, MIN_TIER, MAX_TIER)
    level = reader.choice("proficiency_level", Proficiency)
    layer = reader.choice("layer", Layer)
    if any(value is not None for value in (module, chapter, lesson)):
        level = level or ("" if "proficiency_level" in fields else ASSUMED_LEVEL.value)
        layer = layer or ("" if "layer" in fields else ASSUMED_LAYER.value)
    return CoursePlace(
        module=module,
        chapter=chapter,
        lesson=lesson,
        hardware_tier=tier,
        proficiency_level=level or None,
        layer=layer or None,
        released_at=reader.moment("released_at"),
        notices=tuple(reader.notices),
    )


def place_by_path(path: PurePosixPath) -> tuple[str | None, int | None, int | None]:
    """Module, chapter and lesson as the folders and the file's name spell them."""
    module = chapter = None
    for folder in path.parts[:-1]:
        if module is None and MODULE_FOLDER.fullmatch(folder):
            module = folder
        elif match := CHAPTER_FOLDER.fullmatch(folder):
            chapter = int(match[1])
    return module, chapter, lesson_by_name(path)


def lesson_by_name(path: PurePosixPath) -> int | None:
    """A lesson's number from the file's name; a folder's page takes the folder's."""
    name = path.stem
    if name.lower() in FOLDER_PAGE:
        name = path.parent.name
        if CHAPTER_FOLDER.fullmatch(name):
            return 0  # a chapter's own page is its overview
    match = LESSON_NAME.fullmatch(name)
    return int(match[1]) if match else None


class FieldReader:
    """Reads typed values out of front matter and keeps a notice of each that does not fit."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = fields
        self.notices: list[str] = []

    def text(self, name: str) -> str | None:
        value = self._fields.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()
        self._note(name, value, "text")
        return None

    def number(self, name: str, otherwise: int | None, low: int, high: int) -> int | None:
        value = self._fields.get(name, otherwise)
        if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
            return value
        self._note(name, value, f"a number from {low} to {high}")
        return None

    def choice(self, name: str, allowed: type[Proficiency] | type[Layer]) -> str | None:
        value = self._fields.get(name)
        if isinstance(value, str) and value.strip().upper() in set(allowed):
            return value.strip().upper()
        if value is not None:
            self._note(name, value, f"one of {', '.join(allowed)}")
        return None

    def moment(self, name: str) -> datetime | None:
        value = self._fields.get(name)
        if isinstance(value, str):
            try:
                value = datetime.fromisoformat(value.strip())
            except ValueError:
                self._note(name, value, "a date")
                return None
        if isinstance(value, date) and not isinstance(value, datetime):
            value = datetime(value.year, value.month, value.day, tzinfo=UTC)
        if isinstance(value, datetime):
            return value if value.tzinfo else value.replace(tzinfo=UTC)
        self._note(name, value, "a date")
        return None

    def _note(self, name: str, value: object, wanted: str) -> None:
        if value is not None:
            self.notices.append(f"{name} is {str(value)[:40]!r}, not {wanted}; left empty")
