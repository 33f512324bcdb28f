"""A second look at the best passages by a model that reads question and passage together."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace

from rag_core.errors import UpstreamError
from rag_core.ports import Reranker
from rag_core.retrieval.results import SearchResult

log = logging.getLogger(__name__)

LOOKED_AT = 50
"""Of the order that is there already: what stands further down is hardly ever the answer."""
SECONDS = 5.0
"""An answer has a deadline of its own; a better order is not worth waiting longer for."""


async def reranked(
    reranker: Reranker, question: str, results: Sequence[SearchResult]
) -> Sequence[SearchResult]:
    """The results in the model's order, with its scores; as they were where it fails."""
    texts = [f"{result.breadcrumb}\n\n{result.text}" for result in results]
    try:
        async with asyncio.timeout(SECONDS):
            found = await reranker.rerank(question, texts, top=len(texts))
    except (UpstreamError, TimeoutError) as error:
        log.warning("passages were not reranked", extra={"reason": type(error).__name__})
        return results
    return [replace(results[place], rank_score=score) for place, score in found]
