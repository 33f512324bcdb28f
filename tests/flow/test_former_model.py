"""An index keeps the local model that it was built with, until it is built anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rag_core.providers.edge.store import open_edge_store
from rag_core.providers.embedders.local import DIMENSION, open_local_embedder
from rag_core.providers.embedders.models import FORMER_LOCAL_MODEL, LOCAL_MODEL
from rag_core.retrieval.likeness import cosine
from tests.flow.running_house import footnote, running_house

OVEN = "The oven must reach 200 degrees before the bread goes in."
LEAVE = "Employees may carry five vacation days into the next year."
QUESTION = "How hot must it be for baking?"
INGEST = ("ingest", "pages", "--book", "rules", "--json")


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    """A house whose index was made before the local model changed."""
    async with open_edge_store(
        tmp_path / "data" / "index", dimension=DIMENSION, model=FORMER_LOCAL_MODEL
    ):
        pass
    (tmp_path / "pages").mkdir()
    write(tmp_path, "oven", OVEN)
    return tmp_path


def write(folder: Path, name: str, text: str) -> None:
    (folder / "pages" / f"{name}.md").write_text(f"# {name}\n\n{text}\n", encoding="utf-8")


async def printed(*arguments: str, folder: Path) -> Any:
    return json.loads((await footnote(*arguments, folder=folder))[0])


async def model_of_book(folder: Path) -> str:
    (book,) = (await printed("books", "--json", folder=folder))["books"]
    return str(book["embedding_model"])


async def on_the_embedder(folder: Path) -> dict[str, Any]:
    told = (await printed("doctor", "--json", folder=folder))["findings"]
    (found,) = [each for each in told if each["name"] == "embedder"]
    return dict(found)


async def similarity(folder: Path, text: str) -> float:
    found = await printed("search", QUESTION, "--book", "rules", "--json", folder=folder)
    (passage,) = [each for each in found["results"] if text in each["text"]]
    return float(passage["similarity_score"])


async def alike(model: str, page: str, text: str) -> float:
    """The likeness of the question to a page, as this model has it."""
    async with open_local_embedder(model) as embedder:
        (vector,) = await embedder.embed_documents([f"{page}\n\n{text}"])
        return cosine(vector, await embedder.embed_query(QUESTION))


async def test_an_old_index_is_read_and_written_with_its_own_model(folder: Path) -> None:
    await footnote(*INGEST, folder=folder)
    write(folder, "leave", LEAVE)
    await footnote(*INGEST, folder=folder)
    assert await model_of_book(folder) == FORMER_LOCAL_MODEL
    for name, text in (("oven", OVEN), ("leave", LEAVE)):
        wanted = await alike(FORMER_LOCAL_MODEL, name, text)
        assert await similarity(folder, text) == pytest.approx(wanted, abs=1e-3)


async def test_an_old_index_is_told_of_until_it_is_built_anew(folder: Path) -> None:
    await footnote(*INGEST, folder=folder)
    found = await on_the_embedder(folder)
    assert (found["in_place"], found["is_warning"]) == (True, True)
    assert LOCAL_MODEL in found["advice"]
    assert "footnote ingest PATH --book ID --mode recreate" in found["advice"]
    async with running_house(folder) as house:
        assert any(found["advice"] in line for line in house.said)

    (folder / "data" / "index").rename(folder / "before")
    await footnote(*INGEST, "--mode", "recreate", folder=folder)
    assert await model_of_book(folder) == LOCAL_MODEL
    assert not (await on_the_embedder(folder))["is_warning"]
    wanted = await alike(LOCAL_MODEL, "oven", OVEN)
    assert await similarity(folder, OVEN) == pytest.approx(wanted, abs=1e-3)
    async with running_house(folder) as house:
        assert not any("recreate" in line for line in house.said)
