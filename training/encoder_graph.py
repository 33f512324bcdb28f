"""Writes the graph of the local encoder, without weights: `python training/encoder_graph.py`.

It needs the package `onnx` (Apache-2.0), which Footnote itself does not use. Matrices are 8-bit
numbers in groups of 64 with a scale for each group; products are computed in whole numbers.
"""

from __future__ import annotations

from pathlib import Path

from onnx import ModelProto, NodeProto, TensorProto, helper

OUTPUT = Path(__file__).parents[1] / "rag_core/providers/local/encoder.onnx"
WIDTH, INNER, LAYERS, HEADS, GROUP = 384, 1536, 6, 12, 64
EPSILON = 1e-12
IN_WHOLE_NUMBERS = 4
FUSED = "com.microsoft"


class Graph:
    """Nodes in order, and the weights that they ask for by name."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.weights: list[TensorProto] = []

    def weight(self, name: str, *shape: int, kind: int = TensorProto.FLOAT) -> str:
        tensor = TensorProto(
            name=name, data_type=kind, dims=shape, data_location=TensorProto.EXTERNAL
        )
        tensor.external_data.add(key="location", value="handed-over-in-memory")
        self.weights.append(tensor)
        return name

    def node(
        self, kind: str, takes: list[str], makes: str, *, domain: str = FUSED, **how: object
    ) -> str:
        self.nodes.append(helper.make_node(kind, takes, makes.split(), domain=domain, **how))
        return makes

    def linear(self, takes: str, name: str, rows: int, columns: int) -> str:
        groups = columns // GROUP
        matrix = self.weight(f"{name}.w", rows, groups, GROUP, kind=TensorProto.UINT8)
        scales = self.weight(f"{name}.w.scales", rows, groups)
        bias = self.weight(f"{name}.b", rows)
        return self.node(
            "MatMulNBits", [takes, matrix, scales, "", "", bias], name,
            N=rows, K=columns, bits=8, block_size=GROUP, accuracy_level=IN_WHOLE_NUMBERS,
        )  # fmt: skip

    def normal(self, takes: str, added: str, name: str) -> str:
        weights = [self.weight(f"{name}.w", WIDTH), self.weight(f"{name}.b", WIDTH)]
        return self.node("SkipLayerNormalization", [takes, added, *weights], name, epsilon=EPSILON)

    def layer(self, takes: str, name: str) -> str:
        query, key, value = (f"{name}.{part}" for part in ("query", "key", "value"))
        together = self.linear(takes, f"{name}.qkv", 3 * WIDTH, WIDTH)
        self.node("Split", [together], f"{query} {key} {value}", domain="", axis=-1, num_outputs=3)
        attended = self.node(
            "MultiHeadAttention", [query, key, value], f"{name}.attended", num_heads=HEADS
        )
        own = self.linear(attended, f"{name}.ao", WIDTH, WIDTH)
        middle = self.normal(takes, own, f"{name}.aln")
        wide = self.node("Gelu", [self.linear(middle, f"{name}.f1", INNER, WIDTH)], f"{name}.gelu")
        return self.normal(middle, self.linear(wide, f"{name}.f2", WIDTH, INNER), f"{name}.fln")


def encoder() -> ModelProto:
    graph = Graph()
    weights = [graph.weight("emb_ln.w", WIDTH), graph.weight("emb_ln.b", WIDTH)]
    states = graph.node(
        "LayerNormalization", ["embeddings", *weights], "start", domain="", epsilon=EPSILON
    )
    for number in range(LAYERS):
        states = graph.layer(states, f"l{number}")
    graph.nodes[-1].output[0] = "states"
    rows = [1, "tokens", WIDTH]
    return helper.make_model(
        helper.make_graph(
            graph.nodes,
            "encoder",
            [helper.make_tensor_value_info("embeddings", TensorProto.FLOAT, rows)],
            [helper.make_tensor_value_info("states", TensorProto.FLOAT, rows)],
            graph.weights,
        ),
        opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid(FUSED, 1)],
        ir_version=9,
    )


if __name__ == "__main__":
    OUTPUT.write_bytes(encoder().SerializeToString())
