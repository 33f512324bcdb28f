"""Trains the reader: `python training/train_reader.py GROUPS OUT [--also FILE]… [--passes 1.6]`.

GROUPS is what hard_negatives.py wrote. A file named with --also holds further groups in the same
form, one a line; they are mixed into the first half. Repositories in HELD_OUT are never trained on:
the confidence is measured on them.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

import torch
from reader_model import Batch, ReaderModel, Row
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

from rag_core.providers.embedders.granite import granite_pack, usual_weights

HELD_OUT = ("18F+handbook", "letsencrypt+website", "swcarpentry+git-novice", "zulip+zulip")
GROUPS_AT_ONCE, OTHERS = 8, 3
ENCODER_RATE, HEADS_RATE = 1e-4, 1e-3
WARM_UP = 80
UNIT_WEIGHT = 0.6


def some_others(group: dict, chance: random.Random) -> list[list[str]]:
    """Passages that do not answer, those that fool a search most first."""
    others, near = group["others"], group["near"]
    chosen: list[int] = []
    while len(chosen) < min(OTHERS, len(others)):
        by_rank = min(len(others) - 1, int(chance.expovariate(0.25)))
        place = chance.randrange(near) if near and chance.random() < 0.5 else by_rank
        if place in chosen:
            place = chance.randrange(len(others))
        if place not in chosen:
            chosen.append(place)
    return [others[place] for place in chosen]


def losses(
    model: ReaderModel, tokenizer: Tokenizer, groups: list[dict], chance: random.Random
) -> list[Tensor]:
    """Of the order within each group, of telling what answers, and of finding the units that do."""
    rows, answering, group_of = [], [], []
    for number, group in enumerate(groups):
        passages = [(group["answer"], 1)] if group["answer"] else []
        for (breadcrumb, text, *ranges), label in [
            *passages,
            *((each, 0) for each in some_others(group, chance)),
        ]:
            rows.append(
                Row(tokenizer, group["question"], breadcrumb, text, ranges[0] if ranges else None)
            )
            answering.append(label)
            group_of.append(number)
    scores: list[Tensor] = [torch.empty(0)] * len(rows)
    unit_losses = []
    by_length = sorted(range(len(rows)), key=lambda place: len(rows[place].ids))
    for part in (by_length[: len(rows) // 2], by_length[len(rows) // 2 :]):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            found, units = model(Batch([rows[place] for place in part]))
        for line, place in enumerate(part):
            scores[place] = found[line].float()
            labels = torch.tensor(rows[place].labels, dtype=torch.float)
            if labels.sum() > 0:
                own = units[line, : len(labels)].float()
                first = torch.logsumexp(own, 0) - torch.logsumexp(own[labels > 0], 0)
                unit_losses.append(
                    functional.binary_cross_entropy_with_logits(own, labels) + 0.5 * first
                )
    together, wanted = torch.stack(scores), torch.tensor(answering, dtype=torch.float)
    orders = []
    for number in range(len(groups)):
        own = torch.tensor([each == number for each in group_of])
        if wanted[own].sum() == 1 and own.sum() > 1:
            orders.append(
                functional.cross_entropy(together[own, 0][None], wanted[own].argmax()[None])
            )
    nothing = torch.tensor(0.0)
    return [
        torch.stack(orders).mean() if orders else nothing,
        functional.binary_cross_entropy_with_logits(together[:, 1], wanted),
        torch.stack(unit_losses).mean() if unit_losses else nothing,
    ]


def centre(
    model: ReaderModel, tokenizer: Tokenizer, groups: list[dict], chance: random.Random
) -> None:
    """The nearness figures of the untrained encoder all lie close together: they are spread."""
    figures = []
    with torch.no_grad():
        for group in chance.sample(groups, 40):
            rows = [
                Row(tokenizer, group["question"], *each[:2], None)
                for each in some_others(group, chance)
            ]
            batch = Batch(rows)
            figures.append(
                model.nearness_of(model.encoder(batch.ids, batch.mask), batch.asked, batch.passage)[
                    0
                ]
            )
        together = torch.cat(figures)
        model.mean.copy_(together.mean(0))
        model.deviation.copy_(together.std(0))


def order_of(
    groups: list[dict], also: list[dict], passes: float, chance: random.Random
) -> list[dict]:
    order: list[dict] = []
    while passes > 0:
        order += chance.sample(groups, int(len(groups) * min(1.0, passes)))
        passes -= 1
    first = order[: len(order) // 2] + also
    return chance.sample(first, len(first)) + order[len(order) // 2 :]


def read_groups(file: Path) -> list[dict]:
    return list(map(json.loads, file.read_text(encoding="utf-8").splitlines()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("groups", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--also", type=Path, action="append", default=[])
    parser.add_argument("--passes", type=float, default=1.6)
    given = parser.parse_args()
    torch.manual_seed(0)
    chance = random.Random(0)
    files = [file for file in sorted(given.groups.glob("*.jsonl")) if file.stem not in HELD_OUT]
    groups = [group for file in files for group in read_groups(file)]
    order = order_of(
        groups, [g for file in given.also for g in read_groups(file)], given.passes, chance
    )
    tokenizer = Tokenizer.from_buffer(granite_pack(usual_weights()).tokenizer.tobytes())
    model = ReaderModel()
    centre(model, tokenizer, groups, chance)
    encoder = [p for p in model.encoder.parameters() if p.requires_grad]
    heads = [p for name, p in model.named_parameters() if not name.startswith("encoder.")]
    optimizer = torch.optim.AdamW(
        [{"params": encoder, "lr": ENCODER_RATE}, {"params": heads, "lr": HEADS_RATE}],
        weight_decay=0.01,
    )
    steps = len(order) // GROUPS_AT_ONCE
    rate = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / WARM_UP) * max(0.02, 1 - step / steps)
    )
    for step in range(steps):
        some = order[step * GROUPS_AT_ONCE : (step + 1) * GROUPS_AT_ONCE]
        ordering, telling, finding = losses(model, tokenizer, some, chance)
        optimizer.zero_grad()
        (ordering + telling + UNIT_WEIGHT * finding).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        rate.step()
        if step % 25 == 0:
            print(f"{step} of {steps}: {ordering:.3f} {telling:.3f} {finding:.3f}", flush=True)
    torch.save(model.state_dict(), given.out)


if __name__ == "__main__":
    main()
