"""The settings open the right embedder and index, and a restart opens the same ones."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from bot.providers import embedding_choice, open_embedder, open_vectors
from bot.settings import Settings, variables
from rag_core.books.book import BookIds
from rag_core.errors import ConfigurationError
from rag_core.ports import EmbeddedQuery
from tests.fakes.embedder import WordEmbedder
from tests.peers import cohere, openai
from tests.peers.cohere import cohere_peer
from tests.peers.openai_embeddings import embeddings_peer
from tests.peers.qdrant_collection import fresh_collection
from tests.shelf_builders import file_chunks, long_text


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in variables():
        monkeypatch.delenv(variable, raising=False)


def settings(**values: Any) -> Settings:
    return Settings(_env_file=None, **values)


def at_cohere(url: str) -> dict[str, Any]:
    return {"COHERE_API_KEY": SecretStr(cohere.KEY), "CO_API_URL": url}


def at_openai(url: str) -> dict[str, Any]:
    return {"OPENAI_API_KEY": SecretStr(openai.KEY), "OPENAI_BASE_URL": url}


async def write_and_find(chosen: Settings, folder: Path) -> str:
    """Open what the settings say, keep one page in it, find it; the model that served."""
    async with AsyncExitStack() as stack:
        choice = await embedding_choice(chosen, folder)
        embedder = await stack.enter_async_context(open_embedder(chosen, choice))
        store = await stack.enter_async_context(open_vectors(chosen, folder, embedder=embedder))
        if not await store.count(books=BookIds(["course"])):
            fake = WordEmbedder(dimension=embedder.dimension, model=embedder.model)
            await store.add(file_chunks([long_text("oven")], embedder=fake))
            await store.show_version(book_id="course", source_file="page.md", version=1)
        vector = await embedder.embed_query("the oven")
        query = EmbeddedQuery(text="the oven", vector=vector)
        [found] = await store.search(query, books=BookIds(["course"]), limit=5)
        assert len(found.vector) == embedder.dimension
        return embedder.model


async def test_a_key_that_comes_later_does_not_change_an_index(tmp_path: Path) -> None:
    async with cohere_peer() as peer:
        first = await write_and_find(settings(), tmp_path)
        assert await write_and_find(settings(**at_cohere(peer.url)), tmp_path) == first
        assert peer.embedded == []


async def test_a_new_index_with_a_key_is_built_at_cohere_and_stays_there(tmp_path: Path) -> None:
    async with cohere_peer() as peer:
        chosen = settings(**at_cohere(peer.url))
        assert await write_and_find(chosen, tmp_path) == "embed-english-v3.0"
        assert await write_and_find(chosen, tmp_path) == "embed-english-v3.0"
    with pytest.raises(ConfigurationError, match="COHERE_API_KEY"):
        await write_and_find(settings(), tmp_path)


async def test_another_embedder_is_refused_with_both_names(tmp_path: Path) -> None:
    await write_and_find(settings(), tmp_path)
    async with embeddings_peer() as peer:
        with pytest.raises(ConfigurationError, match=r"granite.*text-embedding-3-small"):
            await write_and_find(
                settings(FOOTNOTE_EMBEDDER="openai", **at_openai(peer.url)), tmp_path
            )


async def test_an_index_on_a_server_remembers_its_model_too(
    qdrant_url: str, tmp_path: Path
) -> None:
    async with (
        fresh_collection(qdrant_url) as name,
        embeddings_peer() as own,
        cohere_peer() as peer,
    ):
        server = {"QDRANT_URL": qdrant_url, "QDRANT_COLLECTION_NAME": name}
        keys = at_openai(own.url) | at_cohere(peer.url)
        built = await write_and_find(
            settings(
                FOOTNOTE_EMBEDDER="openai", OPENAI_EMBEDDING_MODEL="own-model", **server, **keys
            ),
            tmp_path,
        )
        assert built == "own-model"
        assert await write_and_find(settings(**server, **keys), tmp_path) == "own-model"
        assert peer.embedded == []
        assert not (tmp_path / "index").exists()
