"""The reader as it is trained: the local embedder's encoder over question and passage together.

It needs torch, which Footnote itself does not use. `rag_core/providers/local/joint_reader.py`
computes the same without it.
"""

from __future__ import annotations

import re

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

from rag_core.providers.embedders.granite import granite_pack, usual_weights
from rag_core.providers.local.pack import QuantizedMatrix

WIDTH, LAYERS, HEADS = 384, 6, 12
FROZEN = ("emb_ln", "l0", "l1")
"""What stays as the embedder has it, besides the tables."""
TABLES = ("word_emb", "pos_emb", "type_emb")
MAX_TOKENS, MAX_QUESTION, MAX_HEADINGS = 288, 64, 40
START, PADDING, END = 0, 1, 2
UNIT_END = re.compile(r"(?<=[.!?])[\"')*_]*\s+(?=[A-Z`\"'(\[*_\d])|\n")
MARKS = " \t-*|`#>"


def base_weights() -> dict[str, Tensor]:
    """The embedder's weights as floats."""
    floats = {}
    for name, tensor in granite_pack(usual_weights()).tensors.items():
        if isinstance(tensor, QuantizedMatrix):
            rows, groups, size = tensor.numbers.shape
            whole = tensor.numbers.astype("f4") * tensor.scales[:, :, None]
            floats[name] = torch.tensor(whole.reshape(rows, groups * size))
        else:
            floats[name] = torch.tensor(tensor)
    return floats


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        weights = base_weights()
        self.tables = nn.ParameterDict(
            {n: nn.Parameter(weights.pop(n), requires_grad=False) for n in TABLES}
        )
        self.layers = nn.ParameterDict(
            {
                n.replace(".", "_"): nn.Parameter(w, requires_grad=n.split(".")[0] not in FROZEN)
                for n, w in weights.items()
            }
        )

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        places = torch.cumsum(mask, 1) * mask + 1
        x = (
            self.tables["word_emb"][ids]
            + self.tables["pos_emb"][places]
            + self.tables["type_emb"][0]
        )
        x = self.normal(x, "emb_ln")
        size, length, _ = x.shape
        for layer in range(LAYERS):
            name = f"l{layer}"
            parts = (
                self.linear(x, f"{name}_qkv")
                .view(size, length, 3, HEADS, -1)
                .permute(2, 0, 3, 1, 4)
            )
            attended = functional.scaled_dot_product_attention(
                *parts, attn_mask=mask[:, None, None].bool()
            )
            x = self.normal(
                x + self.linear(attended.transpose(1, 2).reshape(x.shape), f"{name}_ao"),
                f"{name}_aln",
            )
            inner = functional.gelu(self.linear(x, f"{name}_f1"))
            x = self.normal(x + self.linear(inner, f"{name}_f2"), f"{name}_fln")
        return x

    def linear(self, x: Tensor, name: str) -> Tensor:
        return functional.linear(x, self.layers[f"{name}_w"], self.layers[f"{name}_b"])

    def normal(self, x: Tensor, name: str) -> Tensor:
        return functional.layer_norm(
            x, (WIDTH,), self.layers[f"{name}_w"], self.layers[f"{name}_b"], 1e-12
        )


class ReaderModel(nn.Module):
    """Relevance, answerability, and how well each unit answers."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = Encoder()
        self.joint, self.scores = nn.Linear(3 * WIDTH + 3, 192), nn.Linear(192, 2)
        self.nearness = nn.Linear(3, 2)
        self.unit, self.unit_score = nn.Linear(WIDTH, 128), nn.Linear(128, 1)
        self.unit_nearness = nn.Parameter(torch.tensor([2.0, -1.5]))
        self.register_buffer("mean", torch.zeros(3))
        self.register_buffer("deviation", torch.ones(3))
        for layer in (self.scores, self.unit_score):
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)
        with torch.no_grad():  # it begins by nearness; without it nothing is learnt in this time
            self.nearness.weight.copy_(torch.tensor([[0.8, 0.3, 0.5], [0.6, 0.2, 0.4]]))
            self.nearness.bias.copy_(torch.tensor([0.0, -1.0]))

    def nearness_of(
        self, states: Tensor, asked: Tensor, passage: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Nearest token of the passage for each of the question: mean and worst; and the means."""
        unit = functional.normalize(states.float(), dim=-1)
        near = (unit @ unit.transpose(1, 2)).masked_fill(~passage[:, None], -1).max(2).values
        means = [
            (states.float() * each[..., None]).sum(1) / each.sum(1).clamp(min=1)[:, None]
            for each in (asked, passage)
        ]
        figures = [
            (near * asked).sum(1) / asked.sum(1).clamp(min=1),
            near.masked_fill(~asked, 2).min(1).values,
            functional.cosine_similarity(*means, dim=-1),
        ]
        return torch.stack(figures, 1), means[0], means[1]

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        states = self.encoder(batch.ids, batch.mask)
        figures, question, passage = self.nearness_of(states, batch.asked, batch.passage)
        figures = (figures - self.mean) / self.deviation
        hidden = functional.gelu(
            self.joint(torch.cat([states[:, 0].float(), question, passage, figures], 1))
        )
        scores = self.scores(hidden) + self.nearness(figures)
        of_unit = (
            functional.one_hot(batch.units.clamp(min=0), batch.most_units).float()
            * (batch.units >= 0)[..., None]
        )
        means = of_unit.transpose(1, 2) @ states.float() / of_unit.sum(1).clamp(min=1)[..., None]
        near = functional.cosine_similarity(means, question[:, None], dim=-1)
        units = self.unit_score(functional.gelu(self.unit(means)))[..., 0]
        return scores, units + self.unit_nearness[0] * 4 * (near - 0.5) + self.unit_nearness[1]


class Row:
    """A question and a passage as tokens, with the passage's units and which of them answer."""

    def __init__(
        self, tokenizer: Tokenizer, question: str, breadcrumb: str, text: str, answer: list | None
    ) -> None:
        asked = tokenizer.encode(question, add_special_tokens=False).ids[:MAX_QUESTION]
        headings = tokenizer.encode(f"{breadcrumb}\n\n", add_special_tokens=False).ids[
            :MAX_HEADINGS
        ]
        encoding = tokenizer.encode(text, add_special_tokens=False)
        room = MAX_TOKENS - 4 - len(asked) - len(headings)
        ranges = units_in(text)
        units = [unit_at(ranges, start) for start, _ in encoding.offsets[:room]]
        self.ids = [START, *asked, END, END, *headings, *encoding.ids[:room], END]
        self.asked = (1, 1 + len(asked))
        self.passage = (3 + len(asked), len(self.ids) - 1)
        self.units = [-1] * (3 + len(asked) + len(headings)) + units + [-1]
        seen = max(units, default=-1) + 1
        self.labels = [answers(text, each, answer) for each in ranges[:seen]] if answer else []


def units_in(text: str) -> list[tuple[int, int]]:
    """Sentences, items, rows and lines of code."""
    ranges: list[tuple[int, int]] = []
    start = 0
    for end in [*(m.end() for m in UNIT_END.finditer(text)), len(text)]:
        if text[start:end].strip(MARKS + "\n"):
            ranges.append((start, end))
        elif ranges:
            ranges[-1] = (ranges[-1][0], end)
        start = end
    return ranges


def unit_at(ranges: list[tuple[int, int]], place: int) -> int:
    return next((n for n, (start, end) in enumerate(ranges) if start <= place < end), -1)


def answers(text: str, unit: tuple[int, int], answer: list) -> bool:
    shared = sum(max(0, min(unit[1], end) - max(unit[0], start)) for start, end in answer)
    return shared > 0 and shared >= 0.5 * len(text[unit[0] : unit[1]].strip())


class Batch:
    def __init__(self, rows: list[Row]) -> None:
        length = max(len(row.ids) for row in rows)
        self.ids = torch.full((len(rows), length), PADDING)
        self.units = torch.full((len(rows), length), -1)
        self.asked = torch.zeros(len(rows), length, dtype=torch.bool)
        self.passage = self.asked.clone()
        self.most_units = max(1, max(max(row.units) + 1 for row in rows))
        for place, row in enumerate(rows):
            self.ids[place, : len(row.ids)] = torch.tensor(row.ids)
            self.units[place, : len(row.ids)] = torch.tensor(row.units)
            self.asked[place, slice(*row.asked)] = True
            self.passage[place, slice(*row.passage)] = True
        self.mask = (self.ids != PADDING).long()
