"""The embedded engine's folder: opened, made, and its faults put into plain words."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import qdrant_edge as edge

from rag_core.errors import ConfigurationError, FolderInUse, StorageError, StorageFull
from rag_core.providers.edge.building import GraphRules
from rag_core.providers.edge.index_state import MOVE_AWAY, STATE_FILE, read_state, write_state
from rag_core.providers.edge.signals import DENSE, WORDS
from rag_core.providers.edge.space import MEBIBYTE, check_space, keep_spare, reserve_to_open
from rag_core.providers.index.payload import (
    DATETIMES,
    EDGE_KEYWORDS,
    EDITION,
    INTEGERS,
    TENANT,
)
from rag_core.providers.spare_memory import let_go_of_files

SHARD_FOLDER = "shard"
LAYOUT = 2
"""Of what stands in the index; one of another number cannot be read."""
SMALL_BOOK = 6_000
"""Passages that are gone through one by one for their words, half a millisecond's work however
much other books hold; for larger books the engine goes along what all books have of a word."""
SEARCH_THREADS = 1
"""The engine's own: with one it works in the thread that asks. Handing over to another and back
takes a tenth of a quick search, and a third of it where the machine has other things to do; nearly
all passages are in one segment, which one thread goes through in any case."""
COARSE = edge.TurboQuantQuantizationConfig(
    bits=edge.TurboQuantBitSize.Bits8,
    memory=edge.Memory.Cold,  # any other has the engine read all of it while it opens the index
)
"""Beside each vector in the graph stands one of a byte for each number: the engine goes along the
graph by these, in a third of the time, and scores what it found by the vectors themselves."""
PLACE = "shard"
"""In the state: which folder holds the shard."""


def open_shard(
    folder: Path, dimension: int, model: str, rules: GraphRules
) -> tuple[edge.EdgeShard, dict[str, Any]]:
    """Blocks."""
    shard_folder = folder / SHARD_FOLDER
    state = read_state(folder / STATE_FILE)
    if state is not None:
        checked_model(folder, state, dimension, model)
        keep_spare(folder)
        return load_shard(folder / state.get(PLACE, SHARD_FOLDER), dimension, rules), state
    state = {"model": model, "dimension": dimension, "layout": LAYOUT}
    with edge_errors(folder):
        try:
            shard_folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(f"The folder {folder} cannot be made ({error.strerror}).") from error
        check_space(folder)
        keep_spare(folder)
        if any(shard_folder.iterdir()):  # a first start that was cut off before it was noted
            shard = edge.EdgeShard.load(str(shard_folder), configuration(dimension, rules))
        else:
            shard = edge.EdgeShard.create(str(shard_folder), configuration(dimension, rules))
        create_indexes(shard)
    let_go_of_files(shard_folder)
    write_state(folder / STATE_FILE, state)
    return shard, state


def load_shard(shard_folder: Path, dimension: int, rules: GraphRules) -> edge.EdgeShard:
    """Blocks. Nothing else in the process runs while the engine opens a shard, which takes a tenth
    of the time when the disk need not be asked."""
    with edge_errors(shard_folder.parent):
        reserve_to_open(shard_folder)
        read_ahead(shard_folder)
        shard = edge.EdgeShard.load(str(shard_folder), configuration(dimension, rules))
    let_go_of_files(shard_folder)
    return shard


def read_ahead(folder: Path) -> None:
    """Have the system hold these files in its cache. Blocks, and nobody else."""
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb", buffering=0) as opened:
                while opened.read(MEBIBYTE):
                    pass


def next_place(shard_folder: Path) -> Path:
    """A folder beside this one that no shard was in before."""
    number = int(shard_folder.name.rpartition("-")[2]) if "-" in shard_folder.name else 0
    return shard_folder.with_name(f"{SHARD_FOLDER}-{number + 1}")


def clear_others(folder: Path, current: str) -> None:
    """Remove the shards that an interrupted or a finished change of place left. Blocks."""
    for other in folder.glob(f"{SHARD_FOLDER}*"):
        if other.name != current:
            shutil.rmtree(other, ignore_errors=True)


def written_out(shard_folder: Path) -> None:
    """Have the system write what it still holds of these files. Blocks, and nobody else: the engine
    does the same when it is told to flush or to close, and nothing else runs meanwhile."""
    for path in shard_folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as opened:
                os.fsync(opened)


def checked_model(folder: Path, state: Mapping[str, Any], dimension: int, model: str) -> None:
    if state.get("layout") != LAYOUT:
        raise ConfigurationError(
            f"The index in {folder} was written by another version of Footnote: move that folder"
            " away and read your books again with `footnote ingest`; conversations stay."
        )
    if (state.get("model"), state.get("dimension")) != (model, dimension):
        raise ConfigurationError(
            f"The index was built with the embedding model {state.get('model')}"
            f" ({state.get('dimension')} dimensions), and the settings ask for {model}"
            f" ({dimension}): set FOOTNOTE_EMBEDDER back, or move {folder} away and read your books"
            " again with `footnote ingest`."
        )


def configuration(dimension: int, rules: GraphRules) -> edge.EdgeConfig:
    return edge.EdgeConfig(
        vectors={
            DENSE: edge.EdgeVectorParams(
                size=dimension, distance=edge.Distance.Cosine, quantization_config=COARSE
            )
        },
        sparse_vectors={
            WORDS: edge.EdgeSparseVectorParams(
                modifier=edge.Modifier.Idf, full_scan_threshold=SMALL_BOOK
            )
        },
        optimizers=rules.optimizers(dimension),
        payload_memory=edge.Memory.Cached,  # a search reads a hundred passages, all over the file
        max_search_threads=SEARCH_THREADS,
    )


def create_indexes(shard: edge.EdgeShard) -> None:
    """What every search is narrowed by is kept in memory. The others are read from their files, and
    find as quickly what they are asked for: to build them in memory each time the index is opened
    would hold up everybody, for longer the larger it is."""
    read = edge.Memory.Cached
    schemas: dict[str, Any] = dict.fromkeys(EDGE_KEYWORDS, edge.KeywordIndexParams(memory=read))
    schemas |= dict.fromkeys(INTEGERS, edge.IntegerIndexParams(memory=read))
    schemas |= dict.fromkeys(DATETIMES, edge.DatetimeIndexParams(memory=read))
    schemas |= {TENANT: edge.KeywordIndexParams(is_tenant=True), EDITION: edge.KeywordIndexParams()}
    for name, schema in schemas.items():
        shard.update(edge.UpdateOperation.create_field_index(name, schema))


@contextmanager
def edge_errors(folder: Path) -> Iterator[None]:
    """The engine raises bare exceptions, and panics that are not even exceptions."""
    try:
        yield
    except BaseException as error:
        if type(error) is not Exception and type(error).__name__ != "PanicException":
            raise
        raise explained(str(error), folder) from error


def explained(reason: str, folder: Path) -> StorageError:
    if "WouldBlock" in reason:
        return FolderInUse(
            f"Another process works in {folder}: stop it, or give this one a folder of its own."
        )
    if "No space left" in reason or "StorageFull" in reason:
        return StorageFull(f"There is no space left for the index in {folder}.")
    return StorageError(f"The index in {folder} cannot be used: {MOVE_AWAY}")
