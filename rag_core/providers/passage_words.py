"""The words of a passage with their weights, as the index engine would weigh them, in less time.

A passage is taken apart as the engine does it; which term a word is, and whether it is one, the
engine is asked once for each word, and not again for each passage that has it.
"""

from __future__ import annotations

from collections import Counter

import qdrant_edge as edge

from rag_core.providers.bm25 import BM25_B, BM25_K, BM25_LENGTH, words_model

REMEMBERED = 20_000
"""Words whose terms are kept: three megabytes. Most words of a text are among far fewer."""
LONGEST = 40
"""Characters of a word that is remembered: what is longer is data, and will not come again."""
SEPARATE = {code: chr(code).lower() if chr(code).isalnum() else " " for code in range(128)}
NO_TERM = -1
"""For words such as "the", which the engine leaves out; no term is negative."""


class PassageWords:
    """Weighs the words of passages; for one thread."""

    def __init__(self) -> None:
        self._model = words_model()
        self._terms = Terms(self._model)

    def weighed(self, text: str) -> edge.SparseVector:
        """What the engine's own model makes of the text, which is asked for all but plain ASCII."""
        if not text.isascii():
            return self._model.embed_document(text)
        if len(self._terms) > REMEMBERED:
            self._terms.clear()
        counts = Counter(map(self._terms.__getitem__, text.translate(SEPARATE).split()))
        counts.pop(NO_TERM, None)
        terms = sorted(counts)
        length = BM25_K * (1 - BM25_B + BM25_B * counts.total() / BM25_LENGTH)
        weights = [(times := counts[term]) * (BM25_K + 1) / (times + length) for term in terms]
        return edge.SparseVector(terms, weights)


class Terms(dict[str, int]):
    """The term of each word that was met."""

    def __init__(self, model: edge.Bm25) -> None:
        super().__init__()
        self._model = model

    def __missing__(self, word: str) -> int:
        found = self._model.embed_document(word).indices
        term = found[0] if found else NO_TERM
        if len(word) <= LONGEST:
            self[word] = term
        return term
