"""Where a footnote leads."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from adapters.web.pages.markdown import leads_out
from rag_core.agent.answer import Citation
from rag_core.retrieval.results import SearchResult

MAX_QUOTE = 600
"""Of the quoted words, as much as an address may carry."""


def place_of_citation(citation: Citation, passage: SearchResult | None) -> tuple[str, bool]:
    """The exact place, and whether it is outside; "" where there is none to go to."""
    if citation.page_url and leads_out(citation.page_url):
        return citation.page_url, True
    if passage is None:
        return "", False
    return reading_link(passage.parent_doc_id, passage.chunk_id, citation.quote), False


def reading_link(parent_doc_id: str, chunk_id: str = "", quoted: str = "") -> str:
    """The reading page of a lesson, at a passage, with its quoted words to be marked."""
    path = f"/read/{quote(parent_doc_id, safe='')}"
    if not chunk_id:
        return path
    query = urlencode({"passage": chunk_id, "quote": quoted[:MAX_QUOTE]})
    return f"{path}?{query}#{anchor(chunk_id)}"


def anchor(chunk_id: str) -> str:
    return f"passage-{chunk_id}"
