"""Reads a model pack: tokenizer and weights of a local model in one file.

The format (`HMSEMB01`): the length of a JSON header, the header, the tokenizer, then the tensors in
the header's order. A matrix is stored as int8 numbers in groups along each row; the groups' scales,
32-bit floats, follow the numbers.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_core.errors import ConfigurationError

MAGIC = b"HMSEMB01"
LENGTH = struct.Struct("<Q")
READ_AT_ONCE = 2**20


@dataclass(frozen=True, slots=True)
class QuantizedMatrix:
    """int8 numbers in groups along each row, with a scale for each group."""

    numbers: NDArray[np.int8]
    """Rows, groups, numbers of a group."""
    scales: NDArray[np.float32]
    """Rows, groups."""

    def rows(self, at: NDArray[np.int64]) -> NDArray[np.float32]:
        """These rows as floats; nothing else of the matrix is read."""
        floats: NDArray[np.float32] = self.numbers[at] * self.scales[at][:, :, np.newaxis]
        return floats.reshape(len(at), -1)


Tensor = QuantizedMatrix | NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ModelPack:
    """A model's tokenizer and its tensors by name, mapped from the file: what is never read takes
    no memory."""

    tokenizer: NDArray[np.uint8]
    """JSON, as the library that reads it takes it."""
    tensors: Mapping[str, Tensor]


def read_pack(path: Path, *, sha256: str, package: str) -> ModelPack:
    """The pack in this file if it is the expected one. Blocks."""
    try:
        found = digest_of(path)
        content = np.memmap(path, dtype=np.uint8, mode="r") if found == sha256 else None
    except OSError as error:
        raise ConfigurationError(
            f"The local model {path.name} cannot be read ({error.strerror}):"
            f" install the package {package} again."
        ) from error
    if content is None:
        raise ConfigurationError(
            f"The weights of the local model {path.name} are not the expected ones:"
            f" install the package {package} again."
        )
    return unpacked(content)


def digest_of(path: Path) -> str:
    """Read piece by piece: a file that is mapped for it would stay in memory."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(READ_AT_ONCE):
            digest.update(piece)
    return digest.hexdigest()


def unpacked(content: NDArray[np.uint8]) -> ModelPack:
    at = len(MAGIC) + LENGTH.size
    (length,) = LENGTH.unpack(content[len(MAGIC) : at].tobytes())
    header = json.loads(content[at : at + length].tobytes())
    at += length
    tokenizer = content[at : at + header["tokenizer_len"]]
    at += len(tokenizer)
    tensors: dict[str, Tensor] = {}
    for entry in header["tensors"]:
        tensors[entry["name"]] = tensor_of(content[at : at + entry["len"]], entry)
        at += entry["len"]
    return ModelPack(tokenizer=tokenizer, tensors=tensors)


def tensor_of(stored: NDArray[np.uint8], entry: Mapping[str, Any]) -> Tensor:
    if entry["dtype"] == "f32":
        return stored.view("<f4").reshape(entry["shape"])
    rows, columns = entry["shape"]
    groups = columns // entry["group"]
    return QuantizedMatrix(
        numbers=stored[: rows * columns].view(np.int8).reshape(rows, groups, entry["group"]),
        scales=stored[rows * columns :].view("<f4").reshape(rows, groups),
    )
