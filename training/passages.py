"""Cuts documentation into passages: `python training/passages.py CLONES OUT`.

CLONES holds a clone of each repository that the first line of a file in `questions/` names, as
`owner+name`. The passages of each are written to OUT as JSON lines.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from rag_core.errors import FootnoteError
from rag_core.ingestion.course import CoursePlace
from rag_core.ingestion.cutting import Edition, Shelf, chunks_of
from rag_core.ingestion.loaders import Loader

QUESTIONS = Path(__file__).with_name("questions")
SUFFIXES = (".md", ".mdx", ".rst", ".markdown")
MORE_FILES = 60
"""Files that no question names, so that there is something to be mistaken for an answer."""


def git(clone: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", clone, *arguments], capture_output=True, check=True).stdout


def files_for(clone: Path, commit: str, questions: list[dict]) -> list[str]:
    named = {
        place[0]
        for q in questions
        for place in (q.get("section"), *q.get("also", ()), *q.get("near", ()))
        if place
    }
    folders = {name.split("/")[0] for name in named}
    listed = git(clone, "ls-tree", "-r", "--name-only", commit).decode().splitlines()
    others = [
        n for n in listed if n.endswith(SUFFIXES) and n not in named and n.split("/")[0] in folders
    ]
    return sorted(named) + random.Random(1).sample(sorted(others), min(MORE_FILES, len(others)))


def passages_of(clone: Path, commit: str, files: list[str]) -> Iterator[dict]:
    now = datetime.now(UTC)
    with Loader() as loader:
        for file in files:
            content = git(clone, "show", f"{commit}:{file}")
            name = file.removesuffix(".markdown") + ".md" if file.endswith(".markdown") else file
            try:
                document = loader.load(name, content)
            except FootnoteError as error:
                print(f"left out {file}: {error}", file=sys.stderr)
                continue
            edition = Edition(version=1, created_at=now, updated_at=now)
            for chunk in chunks_of(
                document, CoursePlace(), shelf=Shelf(book_id="training"), edition=edition
            ):
                yield {
                    "file": file,
                    "index": chunk.metadata.chunk_index,
                    "breadcrumb": chunk.metadata.breadcrumb,
                    "text": chunk.text,
                }


def main(clones: Path, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for file in sorted(QUESTIONS.glob("*.jsonl")):
        about, *questions = map(json.loads, file.read_text(encoding="utf-8").splitlines())
        clone = clones / file.stem
        passages = list(
            passages_of(clone, about["commit"], files_for(clone, about["commit"], questions))
        )
        lines = (json.dumps(each, ensure_ascii=False) + "\n" for each in passages)
        (out / file.name).write_text("".join(lines), encoding="utf-8")
        print(f"{file.stem}: {len(passages)} passages")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
