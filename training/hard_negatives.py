"""Finds the passages that fool a search: `python training/hard_negatives.py PASSAGES OUT`.

The search is the cosine of the local embedder and BM25, as the index weighs them. What is found
and answers is left out; the rest are the hard negatives.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

from rag_core.providers.embedders.local import open_local_embedder
from rag_core.providers.index.bm25 import MOST_WEIGHT, idf, words_model

QUESTIONS = Path(__file__).with_name("questions")
KEPT = 16
WORDS_WEIGHT = 0.6


class Words:
    """BM25 over the passages of one repository."""

    def __init__(self, texts: list[str]) -> None:
        self._model = words_model()
        self._count = len(texts)
        self._having: dict[int, list[tuple[int, float]]] = defaultdict(list)
        for place, text in enumerate(texts):
            embedded = self._model.embed_document(text)
            for term, weight in zip(embedded.indices, embedded.values, strict=True):
                self._having[term].append((place, weight))

    def scores(self, question: str) -> np.ndarray:
        scores, most = np.zeros(self._count), 0.0
        for term in self._model.embed_query(question).indices:
            having = self._having.get(term, [])
            rarity = idf(self._count, len(having))
            most += rarity
            for place, weight in having:
                scores[place] += rarity * weight
        return scores / (MOST_WEIGHT * most or 1.0)


async def groups_of(passages: list[dict], questions: list[dict]) -> list[dict]:
    texts = [f"{p['breadcrumb']}\n\n{p['text']}" for p in passages]
    async with open_local_embedder() as embedder:
        vectors = np.array(await embedder.embed_documents(texts))
        asked = [np.array(await embedder.embed_query(q["question"])) for q in questions]
    words = Words(texts)
    at = {(p["file"], p["index"]): place for place, p in enumerate(passages)}
    groups = []
    for question, vector in zip(questions, asked, strict=True):
        section = question.get("section")
        answers = [
            at[tuple(each[:2])]
            for each in ([section] if section else []) + question.get("also", [])
            if tuple(each[:2]) in at
        ]
        if section:
            digest = hashlib.sha256(
                passages[at[section[0], section[1]]]["text"].encode()
            ).hexdigest()
            if digest[:16] != section[2]:
                raise SystemExit(
                    f"{section[0]} was cut in another way: use the ingestion that README.md names"
                )
        near = [at[tuple(each[:2])] for each in question.get("near", []) if tuple(each[:2]) in at]
        said = {passages[place]["text"] for place in answers}
        found = np.argsort(-(vectors @ vector + WORDS_WEIGHT * words.scores(question["question"])))
        others = [
            p
            for p in found[: KEPT + len(answers) + len(near)].tolist()
            if passages[p]["text"] not in said and p not in near
        ]
        item = lambda place: [passages[place]["breadcrumb"], passages[place]["text"]]  # noqa: E731
        groups.append({
            "question": question["question"],
            "answer": [*item(answers[0]), question["answer"]] if section else None,
            "near": len(near),
            "others": list(map(item, (near + others)[: KEPT + len(near)])),
        })  # fmt: skip
    return groups


def main(passages: Path, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for file in sorted(QUESTIONS.glob("*.jsonl")):
        _, *questions = map(json.loads, file.read_text(encoding="utf-8").splitlines())
        cut = list(map(json.loads, (passages / file.name).read_text(encoding="utf-8").splitlines()))
        groups = asyncio.run(groups_of(cut, questions))
        lines = (json.dumps(each, ensure_ascii=False) + "\n" for each in groups)
        (out / file.name).write_text("".join(lines), encoding="utf-8")
        print(f"{file.stem}: {len(groups)} questions")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
