"""Writes the trained reader as a model pack: `python training/export_reader.py MODEL`.

Matrices of the layers become int8 numbers in groups of 64; the heads stay floats. What was not
trained is not written: it is taken from the embedder's pack.
"""

from __future__ import annotations

import hashlib
import json
import struct
import sys
from pathlib import Path

import numpy as np
import torch

OUTPUT = Path(__file__).parents[1] / "rag_core/providers/local/reader.hmsemb"
MAGIC, GROUP = b"HMSEMB01", 64
TRAINED = ("l2", "l3", "l4", "l5")
HEADS = ("joint", "scores", "nearness")
"""What is computed from the states of the tokens. That of the units only helped to train."""


def quantized(matrix: np.ndarray) -> bytes:
    groups = matrix.reshape(len(matrix), -1, GROUP)
    scales = np.abs(groups).max(axis=2) / 127
    numbers = np.round(groups / np.maximum(scales, 1e-12)[:, :, None]).astype("i1")
    return numbers.tobytes() + scales.astype("<f4").tobytes()


def tensors_of(state: dict[str, torch.Tensor]) -> dict[str, np.ndarray]:
    tensors = {}
    for name, tensor in state.items():
        if name.startswith("encoder.layers."):
            layer, part = name.removeprefix("encoder.layers.").split("_", 1)
            if layer in TRAINED:
                tensors[f"{layer}.{part[:-2]}.{part[-1]}"] = tensor.numpy()
    for head in HEADS:
        tensors[f"head.{head}.w"] = state[f"{head}.weight"].numpy()
        tensors[f"head.{head}.b"] = state[f"{head}.bias"].numpy()
    tensors["head.mean"] = state["mean"].numpy()
    tensors["head.deviation"] = state["deviation"].numpy()
    return tensors


def pack(tensors: dict[str, np.ndarray]) -> bytes:
    entries, content = [], b""
    for name, tensor in tensors.items():
        whole = tensor.ndim == 2 and not name.startswith("head.")
        data = quantized(tensor) if whole else tensor.astype("<f4").tobytes()
        kind = {"dtype": "i8", "group": GROUP} if whole else {"dtype": "f32"}
        entries.append({"name": name, "shape": list(tensor.shape), "len": len(data), **kind})
        content += data
    header = json.dumps({"tokenizer_len": 0, "tensors": entries}).encode()
    header += b" " * (-(len(MAGIC) + 8 + len(header)) % 64)
    return MAGIC + struct.pack("<Q", len(header)) + header + content


def main(model: Path) -> None:
    content = pack(tensors_of(torch.load(model)))
    OUTPUT.write_bytes(content)
    print(f"{OUTPUT.name}: {len(content):,} bytes, SHA-256 {hashlib.sha256(content).hexdigest()}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
