"""What a shared index on a real Qdrant server keeps to beyond the contract of vector stores."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from qdrant_client import models

from rag_core.books.book import BookIds
from rag_core.errors import ConfigurationError, UpstreamRejected, UpstreamUnavailable
from rag_core.ports import EmbeddedQuery
from rag_core.providers.retries import Retries
from rag_core.providers.server.collection import CollectionOptions, state_collection
from rag_core.providers.server.connection import connected
from rag_core.providers.server.registers import Registers, with_hidden
from rag_core.providers.server.store import ServerStore, open_server_store, server_model
from rag_core.retrieval.results import SearchResult
from tests.fakes.embedder import WordEmbedder
from tests.peers.faults import Fault, Fine, Reset, Slow, Status
from tests.peers.qdrant_binary import serving
from tests.peers.qdrant_collection import fresh_collection, plain_client, server_store
from tests.peers.unreliable import unreliable
from tests.shelf_builders import file_chunks, long_text

EMBEDDER = WordEmbedder()
COURSE = BookIds(["course"])
QUICK = Retries(attempts=3, first_seconds=0.01, longest_seconds=0.02, patience=5.0)
KEYWORDS = {
    "book_id", "module", "proficiency_level", "layer", "parent_doc_id", "content_hash",
    "source_file_hash",
}  # fmt: skip


async def put(store: ServerStore, texts: Sequence[str], *, version: int = 1, **place: Any) -> None:
    chunks = file_chunks(texts, version=version, **place)
    await store.add(chunks)
    metadata = chunks[0].chunk.metadata
    await store.show_version(
        book_id=metadata.book_id, source_file=metadata.source_file, version=version
    )


async def find(store: ServerStore, text: str = "oven") -> Sequence[SearchResult]:
    query = EmbeddedQuery(text=text, vector=EMBEDDER.vector(text))
    return await store.search(query, books=COURSE, limit=50)


async def test_a_new_collection_has_its_vectors_and_its_indexes(qdrant_url: str) -> None:
    options = CollectionOptions(shards=2, payload_on_disk=False, int8=True)
    async with fresh_collection(qdrant_url) as name:
        async with server_store(qdrant_url, name, options=options) as store:
            await put(store, [long_text("oven"), long_text("tray")])
            assert "oven" in (await find(store))[0].text
        async with plain_client(qdrant_url) as client:
            info = await client.get_collection(name)
    params = info.config.params
    assert isinstance(params.vectors, dict)
    assert params.vectors["dense"].size == EMBEDDER.dimension
    assert params.vectors["dense"].distance == models.Distance.COSINE
    assert (params.sparse_vectors or {})["words"].modifier == models.Modifier.IDF
    assert (params.shard_number, params.replication_factor) == (2, 1)
    assert params.on_disk_payload is False
    assert info.config.quantization_config is not None
    kinds = {field: index.data_type.value for field, index in info.payload_schema.items()}
    assert {field: kinds[field] for field in KEYWORDS} == dict.fromkeys(KEYWORDS, "keyword")
    assert [kinds[field] for field in ("chapter", "lesson", "hardware_tier")] == ["integer"] * 3
    assert kinds["released_at"] == "datetime"
    tenant = info.payload_schema["book_id"].params
    assert isinstance(tenant, models.KeywordIndexParams)
    assert tenant.is_tenant is True


async def test_the_index_is_there_again_after_the_store_was_closed(qdrant_url: str) -> None:
    async with fresh_collection(qdrant_url) as name:
        assert await server_model(qdrant_url, api_key=None, collection=name) is None
        async with server_store(qdrant_url, name) as store:
            await put(store, [long_text("oven")])
        async with server_store(qdrant_url, name) as store:
            assert [result.source_file for result in await find(store)] == ["page.md"]
        assert await server_model(qdrant_url, api_key=None, collection=name) == "words-64"


@pytest.mark.parametrize("changes", [{"dimension": 32}, {"model": "other-64"}])
@pytest.mark.parametrize("lost", ["nothing", "the note"])
async def test_vectors_of_another_model_are_refused_by_name(
    qdrant_url: str, changes: dict[str, Any], lost: str
) -> None:
    async with fresh_collection(qdrant_url) as name:
        async with server_store(qdrant_url, name) as store:
            await put(store, [long_text("oven")])
        if lost == "the note":
            async with plain_client(qdrant_url) as client:
                await client.delete_collection(state_collection(name))
            assert await server_model(qdrant_url, api_key=None, collection=name) == "words-64"
        with pytest.raises(ConfigurationError, match=r"words-64 \(64 dim.*FOOTNOTE_EMBEDDER"):
            async with server_store(qdrant_url, name, **changes):
                pass


async def test_a_collection_of_somebody_else_is_left_alone(qdrant_url: str) -> None:
    async with fresh_collection(qdrant_url) as name:
        async with plain_client(qdrant_url) as client:
            plain = models.VectorParams(size=64, distance=models.Distance.DOT)
            await client.create_collection(name, vectors_config=plain)
        with pytest.raises(ConfigurationError, match="QDRANT_COLLECTION_NAME"):
            async with server_store(qdrant_url, name):
                pass


async def test_indexes_that_a_crash_left_out_are_made_at_the_next_start(qdrant_url: str) -> None:
    async with fresh_collection(qdrant_url) as name:
        async with server_store(qdrant_url, name):
            pass
        async with plain_client(qdrant_url) as client:
            await client.delete_payload_index(name, "module")
            async with server_store(qdrant_url, name):
                pass
            assert "module" in (await client.get_collection(name)).payload_schema


async def test_many_processes_may_start_at_once(qdrant_url: str) -> None:
    async with fresh_collection(qdrant_url) as name, AsyncExitStack() as stack:
        opening = [stack.enter_async_context(server_store(qdrant_url, name)) for _ in range(4)]
        stores = await asyncio.gather(*opening)
        await put(stores[0], [long_text("oven")])
        assert [len(await find(store)) for store in stores] == [1] * 4


async def test_readers_in_another_process_see_one_whole_version_at_any_time(
    qdrant_url: str,
) -> None:
    """Each version has as many chunks as its number says; a mixture or a gap would show."""
    sizes = {1: 4, 2: 7, 3: 2, 4: 9, 5: 3, 6: 8}
    seen: set[tuple[int, int]] = set()
    changed = asyncio.Event()

    async def read(store: ServerStore) -> None:
        while not changed.is_set():
            found = await find(store, "gear")
            [version] = {result.metadata["version"] for result in found}
            seen.add((version, len(found)))

    async with fresh_collection(qdrant_url) as name, AsyncExitStack() as stack:
        opening = [
            stack.enter_async_context(server_store(qdrant_url, name, quiet_seconds=0.05))
            for _ in range(3)
        ]
        writer, *readers = await asyncio.gather(*opening)
        await put(writer, [long_text(f"gear {n} of 1") for n in range(sizes[1])])
        async with asyncio.TaskGroup() as tasks:
            for store in readers:
                tasks.create_task(read(store))
            for version in range(2, 7):
                texts = [long_text(f"gear {n} of {version}") for n in range(sizes[version])]
                await put(writer, texts, version=version)
            changed.set()
    assert seen <= set(sizes.items())
    assert len(seen) > 2


@pytest.mark.parametrize("steps_before", [0, 1, 2])
async def test_a_file_replaced_in_the_middle_of_a_search_is_neither_absent_nor_mixed(
    qdrant_url: str, steps_before: int
) -> None:
    """The search stops between finding its candidates, reading them and looking back."""
    async with (
        unreliable(qdrant_url) as (url, script),
        fresh_collection(qdrant_url) as name,
        server_store(qdrant_url, name) as writer,
        server_store(url, name) as reader,
    ):
        await put(writer, [long_text("oven one"), long_text("oven two")])
        assert len(await find(reader)) == 2
        script.script += [*[Fine()] * steps_before, Slow(2.0)]
        searching = asyncio.create_task(find(reader))
        await asyncio.sleep(0.1)
        await put(writer, [long_text(f"oven {n}") for n in range(5)], version=2)
        assert not searching.done()
        found = await searching
        assert {result.metadata["version"] for result in found} == {2}
        assert len(found) == 5


async def test_what_a_crash_left_of_a_version_never_mixes_with_its_second_try(
    qdrant_url: str,
) -> None:
    async with fresh_collection(qdrant_url) as name:
        async with server_store(qdrant_url, name) as store:
            await put(store, [long_text("oven")])
            await store.add(file_chunks([long_text("left"), long_text("over")], version=2))
        async with server_store(qdrant_url, name) as store:
            assert [result.text for result in await find(store)] == [long_text("oven")]
            await put(store, [long_text("fresh")], version=2)
            assert [result.text for result in await find(store)] == [long_text("fresh")]


async def test_a_book_whose_removal_was_cut_off_is_gone_for_every_reader(qdrant_url: str) -> None:
    async with fresh_collection(qdrant_url) as name, server_store(qdrant_url, name) as store:
        await put(store, [long_text("oven")])
        async with connected(qdrant_url, None, QUICK) as connection:
            registers = Registers(connection=connection, collection=state_collection(name))
            await registers.change("course", lambda old: replace(old, dropped=True))
        assert await find(store) == []
        assert await store.count(books=COURSE) == 0
        await put(store, [long_text("kettle")], file="new.md")
        assert [result.source_file for result in await find(store)] == ["new.md"]


async def test_changes_of_one_register_from_many_sides_are_all_kept(qdrant_url: str) -> None:
    async with (
        fresh_collection(qdrant_url) as name,
        server_store(qdrant_url, name),
        connected(qdrant_url, None, QUICK) as connection,
    ):
        sides = [
            Registers(
                connection=connection, collection=state_collection(name), quiet_seconds=0.001 * n
            )
            for n in range(8)
        ]

        async def hide(side: Registers, name: str) -> None:
            await side.change("course", lambda old: with_hidden(old, old.hidden | {name}))

        await asyncio.gather(*(hide(side, f"course/1/{n}.md") for n, side in enumerate(sides)))
        register = (await sides[0].read(["course"]))["course"]
    assert register.hidden == {f"course/1/{n}.md" for n in range(8)}
    assert register.generation == 8


async def test_only_chunks_lie_in_the_collection(qdrant_url: str) -> None:
    async with fresh_collection(qdrant_url) as name, server_store(qdrant_url, name) as store:
        for version in range(1, 4):
            await put(store, [long_text("oven"), long_text("tray")], version=version)
        async with plain_client(qdrant_url) as client:
            points, _ = await client.scroll(name, limit=100)
    assert len(points) == 2
    assert all((point.payload or {})["version"] == 3 for point in points)


@pytest.mark.parametrize("fault", [Status(500), Status(429), Status(429, retry_after="0"), Reset()])
async def test_a_passing_fault_of_the_server_is_not_seen(qdrant_url: str, fault: Fault) -> None:
    async with (
        unreliable(qdrant_url) as (url, script),
        fresh_collection(qdrant_url) as name,
        server_store(url, name, retries=QUICK) as store,
    ):
        for action in range(3):
            script.script.append(fault)
            await put(store, [long_text(f"oven {action}")], version=action + 1)
            script.script.append(fault)
            assert [r.text for r in await find(store)] == [long_text(f"oven {action}")]
        assert script.script == []


async def test_a_server_that_stays_down_is_unavailable_and_a_refusal_is_final(
    qdrant_url: str,
) -> None:
    async with (
        unreliable(qdrant_url) as (url, script),
        fresh_collection(qdrant_url) as name,
        server_store(url, name, retries=QUICK) as store,
    ):
        script.script += [Reset()] * 3
        with pytest.raises(UpstreamUnavailable) as down:
            await find(store)
        assert down.value.service == "qdrant"
        script.script += [Status(400)]
        with pytest.raises(UpstreamRejected) as refused:
            await find(store)
        assert not refused.value.retryable
        assert "vendor" not in str(refused.value)
        assert await find(store) == []


async def test_a_key_is_needed_where_the_server_asks_for_one(
    qdrant_program: Path, tmp_path: Path
) -> None:
    with serving(qdrant_program, tmp_path, QDRANT__SERVICE__API_KEY="right") as server:
        url = server.url
        with pytest.raises(ConfigurationError, match="QDRANT_API_KEY"):
            async with server_store(url, "documentation", api_key="wrong"):
                pass
        with pytest.raises(ConfigurationError, match="QDRANT_API_KEY"):
            await server_model(url, api_key="wrong", collection="documentation")
        async with server_store(url, "documentation", api_key="right") as store:
            await put(store, [long_text("oven")])
            assert len(await find(store)) == 1


async def test_what_was_shown_survives_a_kill_of_the_server(
    qdrant_program: Path, tmp_path: Path
) -> None:
    with serving(qdrant_program, tmp_path) as server:
        async with server_store(server.url, "documentation") as store:
            await put(store, [long_text("oven"), long_text("tray")])
        server.kill()
    with serving(qdrant_program, tmp_path) as server:
        async with server_store(server.url, "documentation") as store:
            assert len(await find(store)) == 2


async def test_nobody_listening_is_unavailable_at_the_start() -> None:
    with pytest.raises(UpstreamUnavailable):
        async with open_server_store(
            "http://127.0.0.1:9/", api_key=None, collection="documentation",
            dimension=64, model="words-64", retries=QUICK,
        ):  # fmt: skip
            pass
