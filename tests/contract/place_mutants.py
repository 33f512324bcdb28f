"""Every condition that keeps places apart, taken out of a copy of the code one at a time.

`python -m tests.contract.place_mutants` runs the property of `test_places_apart` over each copy and
says which of them it lets pass; it should be none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEST = "tests/contract/test_places_apart.py"
COPIED = ("rag_core", "adapters", "bot", "tests")
TRIES = 3
"""Of 1,000 random operations each: what none of them notices is noticed by nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One condition and what stands in its place."""

    name: str
    file: str
    old: str
    new: str


STAFF, SHELF = "rag_core/storage/staff_answers.py", "rag_core/staff/shelf.py"
LIBRARY, STEWARD = "rag_core/books/library.py", "bot/steward.py"
MUTANTS = (
    Mutant(
        name="staff answers: workspace",
        file=STAFF,
        old='kept.c.tenant == bindparam("tenant"), kept.c.platform == bindparam("platform")',
        new='kept.c.platform == bindparam("platform")',
    ),
    Mutant(
        name="staff answers: platform",
        file=STAFF,
        old='kept.c.tenant == bindparam("tenant"), kept.c.platform == bindparam("platform")',
        new='kept.c.tenant == bindparam("tenant")',
    ),
    Mutant(
        name="staff answers: books that the operator bound",
        file=STAFF,
        old="bound = book_id in audience.bound_books",
        new="bound = True",
    ),
    Mutant(
        name="staff answers: with whom they are shared",
        file=STAFF,
        old='kept.c.shared_with.contains(bindparam("name", type_=Text))',
        new='kept.c.shared_with != ""',
    ),
    Mutant(
        name="staff answers: author and link in their own place alone",
        file=SHELF,
        old="own = answer.belongs_to(audience)",
        new="own = True",
    ),
    Mutant(
        name="staff answers: link in their own place alone",
        file=SHELF,
        old="page_url=(answer.link or None) if own else None",
        new="page_url=answer.link or None",
    ),
    Mutant(
        name="staff answers: no asker's words",
        file=SHELF,
        old="        page_title=title,\n",
        new="        page_title=title,\n        section_heading=answer.question,\n",
    ),
    Mutant(
        name="staff answers: an edit ends sharing",
        file="rag_core/staff/staffing.py",
        old="replace(answer, text=new, changed_at=self._now(), shared_with=())",
        new="replace(answer, text=new, changed_at=self._now())",
    ),
    Mutant(
        name="staff answers: kept only where the operator bound the book",
        file="rag_core/staff/staffing.py",
        old="for book in rules.books or () if book in rules.audience.bound_books]",
        new="for book in rules.books or ()]",
    ),
    Mutant(
        name="staff answers: admins of the place decide",
        file="adapters/staff_answers.py",
        old="(is_admin and answer.place == at)",
        new="is_admin",
    ),
    Mutant(
        name="closed books: what is read",
        file=LIBRARY,
        old="policy = self._without_closed(chosen, platform)",
        new="policy = chosen",
    ),
    Mutant(
        name="closed books: what is said to hold",
        file=LIBRARY,
        old="return self._without_closed(await self._chosen_for(place, category_id), platform)",
        new="return await self._chosen_for(place, category_id)",
    ),
    Mutant(
        name="closed books: the default book",
        file=LIBRARY,
        old="await self._default(self._closed_to(platform, chosen))",
        new="await self._default(frozenset())",
    ),
    Mutant(
        name="closed books: the list",
        file=LIBRARY,
        old="return [book for book in await self._books.all() if book.book_id not in closed]",
        new="return [book for book in await self._books.all()]",
    ),
    Mutant(
        name="closed books: a place's own words",
        file=LIBRARY,
        old="return without(closed, await self._own(place))",
        new="return await self._own(place)",
    ),
    Mutant(
        name="closed books: an admin's choice opens none",
        file=LIBRARY,
        old="self._closed_books.difference(chosen.operator_books)",
        new="self._closed_books.difference((*chosen.operator_books, *chosen.books))",
    ),
    Mutant(
        name="closed books: an admin cannot bind as the operator",
        file=LIBRARY,
        old="replace(policy, operator_books=own.operator_books)",
        new="policy",
    ),
    Mutant(
        name="closed books: choosing and misspelling one",
        file=LIBRARY,
        old="check_books(new, await self.visible_books(place))",
        new="check_books(new, await self._books.all())",
    ),
    Mutant(
        name="closed books: jobs",
        file=STEWARD,
        old="return [job for job in recent if job.book_id not in closed]",
        new="return recent",
    ),
    Mutant(
        name="closed books: what the doctor says of books",
        file="bot/examination/books.py",
        old="return await services.library.visible_books(within, category_id=category_id)",
        new="return await services.stores.books.all()",
    ),
    Mutant(
        name="closed books: what the doctor says of the default",
        file="bot/examination/books.py",
        old="return [await books_here(services, within, category_id)]",
        new="return [await default_book(services)]",
    ),
    Mutant(
        name="closed books: what the doctor says of sources",
        file="bot/examination/books.py",
        old="for each in read_from if each.book_id not in closed]",
        new="for each in read_from]",
    ),
    Mutant(
        name="closed books: the nearest section of a gap",
        file=STEWARD,
        old="if near is not None and closed and not await self._is_open(near, closed):",
        new="if near is None:",
    ),
    Mutant(
        name="closed books: evidence of earlier answers",
        file="adapters/review.py",
        old="if await self._cites_closed(shown, key, category_id):",
        new="if key is None:",
    ),
    Mutant(
        name="gaps: workspace",
        file=STEWARD,
        old="platform=place.platform, tenant=place.tenant, states=UNANSWERED",
        new="platform=place.platform, states=UNANSWERED",
    ),
    Mutant(
        name="gaps: platform",
        file=STEWARD,
        old="platform=place.platform, tenant=place.tenant, states=UNANSWERED",
        new="tenant=place.tenant, states=UNANSWERED",
    ),
    Mutant(
        name="gaps: workspace of the examples",
        file="rag_core/storage/gaps.py",
        old='        questions.c.tenant == or_any("tenant", questions.c.tenant),\n',
        new="",
    ),
    Mutant(
        name="gaps: platform of the examples",
        file="rag_core/storage/gaps.py",
        old='        questions.c.platform == or_any("platform", questions.c.platform),\n',
        new="",
    ),
    Mutant(
        name="evidence: workspace",
        file="adapters/review.py",
        old="(found[1].platform, found[1].tenant) == (platform, tenant)",
        new="found[1].platform is platform",
    ),
    Mutant(
        name="evidence: platform",
        file="adapters/review.py",
        old="(found[1].platform, found[1].tenant) == (platform, tenant)",
        new="found[1].tenant == tenant",
    ),
    Mutant(
        name="repeats: workspace",
        file="rag_core/insight/repeats.py",
        old="(key.platform.value, key.tenant, key.channel_id)",
        new="(key.platform.value, key.channel_id)",
    ),
    Mutant(
        name="repeats: platform",
        file="rag_core/insight/repeats.py",
        old="(key.platform.value, key.tenant, key.channel_id)",
        new="(key.tenant, key.channel_id)",
    ),
    Mutant(
        name="repeats: channel",
        file="rag_core/insight/repeats.py",
        old="(key.platform.value, key.tenant, key.channel_id)",
        new="(key.platform.value, key.tenant)",
    ),
)


def is_noticed(mutant: Mutant, *, tries: int = TRIES) -> bool:
    """Whether the property fails, and by an assertion of its own, without this condition."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in COPIED:
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", copy)
        changed = copy / mutant.file
        text = changed.read_text(encoding="utf-8")
        changed.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
        return any(fails(copy) for _ in range(tries))


def fails(copy: Path) -> bool:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", TEST]
    ran = subprocess.run(
        command,
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy)},
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode not in (0, 1) or (ran.returncode == 1 and "AssertionError" not in ran.stdout):
        raise RuntimeError(f"The copy could not be tested:\n{ran.stdout[-2_000:]}{ran.stderr}")
    return ran.returncode == 1


def main(wanted: list[str]) -> int:
    passed = []
    for mutant in MUTANTS:
        if wanted and not any(word in mutant.name for word in wanted):
            continue
        noticed = is_noticed(mutant)
        print(f"{'red  ' if noticed else 'GREEN'} without {mutant.name}", flush=True)
        passed += [] if noticed else [mutant.name]
    return len(passed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
