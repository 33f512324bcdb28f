"""An edited paragraph costs the vectors of its own passage, and at most of one beside it."""

from __future__ import annotations

import random
from pathlib import Path

from rag_core.ingestion.pipeline import Ingestion, IngestionRequest
from rag_core.providers.edge.store import open_edge_store
from tests.fakes.embedder import WordEmbedder
from tests.fakes.ingestion_stores import MemoryBooks, MemoryJobs
from tests.shelf_builders import write_files

SECTIONS, PARAGRAPHS, EDITS = 4, 24, 25
MOST = 2


def paragraph(words: int) -> str:
    subjects = ("gear", "valve", "motor", "sensor", "belt", "pump")
    chosen = (f"{random.choice(subjects)}{random.randrange(1_000)}" for _ in range(words))
    return " ".join(chosen).capitalize() + "."


def page(sections: list[list[str]]) -> str:
    parts = (
        f"## Section {number}\n\n" + "\n\n".join(section) for number, section in enumerate(sections)
    )
    return "# Parts\n\n" + "\n\n".join(parts) + "\n"


async def test_an_edited_paragraph_embeds_at_most_two_chunks(tmp_path: Path) -> None:
    model = WordEmbedder()
    sections = [
        [paragraph(random.randint(20, 70)) for _ in range(PARAGRAPHS)] for _ in range(SECTIONS)
    ]
    folder = write_files(tmp_path / "docs", {"parts.md": page(sections)})
    async with (
        open_edge_store(tmp_path / "index", dimension=model.dimension, model=model.model) as store,
        Ingestion(jobs=MemoryJobs(), books=MemoryBooks(), store=store, embedder=model) as ingestion,
    ):
        request = IngestionRequest(book_id="course", sources=(str(folder),))
        first = await ingestion.wait((await ingestion.start(request)).job_id)
        assert first.chunks_embedded >= 3 * SECTIONS, "sections of many passages each"
        for _ in range(EDITS):
            edited = random.choice(sections)
            edited[random.randrange(PARAGRAPHS)] = paragraph(random.randint(20, 70))
            write_files(folder, {"parts.md": page(sections)})
            job = await ingestion.wait((await ingestion.start(request)).job_id)
            assert 1 <= job.chunks_embedded <= MOST, f"{job.chunks_embedded} for one paragraph"
