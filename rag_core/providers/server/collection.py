"""The collection on the server: made with its indexes, and refused when it does not fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from qdrant_client import AsyncQdrantClient, models

from rag_core.errors import ConfigurationError
from rag_core.providers.index.payload import DATETIMES, INTEGERS, KEYWORDS, TENANT
from rag_core.providers.server.connection import Connection, Refused
from rag_core.providers.server.registers import GENERATION

DENSE, WORDS = "dense", "words"
TERMS = "terms"
"""Payload field: the words of a passage as numbers, so that the server can count who has one."""
SOURCE_FILE = "source_file"
BUILT_WITH = str(uuid5(NAMESPACE_URL, "built with"))
CONFLICT, MISSING, NOT_ALLOWED = 409, 404, {401, 403}


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionOptions:
    """How a new collection is laid out; an existing one keeps its layout."""

    shards: int | None = None
    replicas: int = 1
    payload_on_disk: bool = True
    int8: bool = False
    """Vectors kept in memory as bytes; the best found are compared by the exact ones again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltWith:
    """The embedding model whose vectors an index holds."""

    model: str
    dimension: int


def state_collection(collection: str) -> str:
    """Where the registers are, apart from the chunks."""
    return f"{collection}_state"


async def prepare(
    connection: Connection, collection: str, wanted: BuiltWith, options: CollectionOptions
) -> None:
    """Make what is missing, then see that this index is the one the settings mean."""
    with key_refusals():
        info = await existing(connection, collection)
        if info is None:
            await create(connection, collection, wanted.dimension, options)
        await create_state(connection, state_collection(collection), options)
        info = await existing(connection, collection)
        if info is None:
            raise ConfigurationError(f"The Qdrant collection {collection} was removed just now.")
        check_layout(collection, info)
        await create_indexes(connection, collection, info)
        built = await remembered(connection, collection) or await noted(
            connection, collection, await found_in(connection, collection, info) or wanted
        )
    check_model(collection, built, dense_size(info), wanted)


async def built_with(connection: Connection, collection: str) -> BuiltWith | None:
    """What the index was made for; nothing where there is none."""
    with key_refusals():
        info = await existing(connection, collection)
        if info is None:
            return None
        check_layout(collection, info)
        return await remembered(connection, collection) or await found_in(
            connection, collection, info
        )


@contextmanager
def key_refusals() -> Iterator[None]:
    """At the start a refused key is a matter for the operator."""
    try:
        yield
    except Refused as error:
        if error.status in NOT_ALLOWED:
            raise ConfigurationError(
                "The Qdrant server refuses the key: set QDRANT_API_KEY to one that may write."
            ) from error
        raise


async def existing(connection: Connection, collection: str) -> models.CollectionInfo | None:
    try:
        return await connection.ask(lambda client: client.get_collection(collection))
    except Refused as error:
        if error.status == MISSING:
            return None
        raise


async def create(
    connection: Connection, collection: str, dimension: int, options: CollectionOptions
) -> None:
    int8 = models.ScalarQuantizationConfig(
        type=models.ScalarType.INT8, quantile=0.99, always_ram=True
    )
    dense = models.VectorParams(size=dimension, distance=models.Distance.COSINE)
    words = models.SparseVectorParams(modifier=models.Modifier.IDF)
    await made(
        connection,
        lambda client: client.create_collection(
            collection,
            vectors_config={DENSE: dense},
            sparse_vectors_config={WORDS: words},
            shard_number=options.shards,
            replication_factor=options.replicas,
            # A version is shown when every copy holds it, else a reader might see half of it.
            write_consistency_factor=options.replicas,
            on_disk_payload=options.payload_on_disk,
            quantization_config=models.ScalarQuantization(scalar=int8) if options.int8 else None,
        ),
    )


async def create_state(connection: Connection, collection: str, options: CollectionOptions) -> None:
    if await existing(connection, collection) is not None:
        return
    await made(
        connection,
        lambda client: client.create_collection(
            collection,
            vectors_config={},
            shard_number=1,
            replication_factor=options.replicas,
            write_consistency_factor=options.replicas // 2 + 1,
        ),
    )
    await connection.ask(
        lambda client: client.create_payload_index(
            collection, GENERATION, models.PayloadSchemaType.INTEGER, wait=True
        )
    )


async def made(connection: Connection, call: Any) -> None:
    """Create; that another process was faster is as good."""
    try:
        await connection.ask(call)
    except Refused as error:
        if error.status != CONFLICT:
            raise


async def create_indexes(
    connection: Connection, collection: str, info: models.CollectionInfo
) -> None:
    for name, schema in index_schemas().items():
        if name not in info.payload_schema:
            await create_index(connection, collection, name, schema)


async def create_index(connection: Connection, collection: str, name: str, schema: Any) -> None:
    await connection.ask(
        lambda client: client.create_payload_index(collection, name, schema, wait=True)
    )


def index_schemas() -> Mapping[str, Any]:
    keyword, integer = models.PayloadSchemaType.KEYWORD, models.PayloadSchemaType.INTEGER
    equal_only = models.IntegerIndexParams(
        type=models.IntegerIndexType.INTEGER, lookup=True, range=False
    )
    tenant = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)
    return {
        TENANT: tenant,
        **dict.fromkeys((*KEYWORDS, SOURCE_FILE), keyword),
        **dict.fromkeys(INTEGERS, integer),
        **dict.fromkeys(DATETIMES, models.PayloadSchemaType.DATETIME),
        TERMS: equal_only,
    }


def check_layout(collection: str, info: models.CollectionInfo) -> None:
    """A collection of somebody else is left alone."""
    params = info.config.params
    vectors = params.vectors if isinstance(params.vectors, dict) else {}
    if DENSE not in vectors or WORDS not in (params.sparse_vectors or {}):
        raise ConfigurationError(
            f"The Qdrant collection {collection} was not made by Footnote:"
            " set QDRANT_COLLECTION_NAME to another name."
        )


def dense_size(info: models.CollectionInfo) -> int:
    vectors = info.config.params.vectors
    assert isinstance(vectors, dict)
    return vectors[DENSE].size


def check_model(collection: str, built: BuiltWith, size: int, wanted: BuiltWith) -> None:
    if (built.model, size) != (wanted.model, wanted.dimension):
        raise ConfigurationError(
            f"The index was built with the embedding model {built.model} ({size} dimensions),"
            f" and the settings ask for {wanted.model} ({wanted.dimension}): set FOOTNOTE_EMBEDDER"
            f" back, or set QDRANT_COLLECTION_NAME to another name than {collection} and ingest"
            " again."
        )


async def remembered(connection: Connection, collection: str) -> BuiltWith | None:
    """What was noted when the index was new; nothing where there is no index."""
    state = state_collection(collection)
    try:
        found = await connection.ask(
            lambda client: client.retrieve(state, [BUILT_WITH], with_payload=True)
        )
    except Refused as error:
        if error.status == MISSING:
            return None
        raise
    for record in found:
        payload = record.payload or {}
        return BuiltWith(model=str(payload["model"]), dimension=int(payload["dimension"]))
    return None


async def noted(connection: Connection, collection: str, built: BuiltWith) -> BuiltWith:
    """Write it down, unless another process did so first; what stands there then."""
    payload = {"model": built.model, "dimension": built.dimension, GENERATION: 1}
    point = models.PointStruct(id=BUILT_WITH, vector={}, payload=payload)
    never = models.Filter(must=[models.IsEmptyCondition(is_empty=field(GENERATION))])

    async def write(client: AsyncQdrantClient) -> None:
        await client.upsert(state_collection(collection), [point], wait=True, update_filter=never)

    await connection.ask(write)
    return await remembered(connection, collection) or built


async def found_in(
    connection: Connection, collection: str, info: models.CollectionInfo
) -> BuiltWith | None:
    """What the chunks themselves say, where the note is lost."""
    records, _ = await connection.ask(
        lambda client: client.scroll(collection, limit=1, with_payload=["embedding_model"])
    )
    for record in records:
        model = str((record.payload or {}).get("embedding_model", "unknown"))
        return BuiltWith(model=model, dimension=dense_size(info))
    return None


def field(key: str) -> models.PayloadField:
    return models.PayloadField(key=key)
