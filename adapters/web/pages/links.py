"""Where a footnote leads, and a section that is near."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from adapters.web.pages.markdown import leads_out
from rag_core.agent.answer import Citation, Suggestion
from rag_core.retrieval.results import SearchResult

MAX_QUOTE = 600
"""Of the quoted words, as much as an address may carry."""


def exact_place(
    named: Citation | Suggestion, passage: SearchResult | None, *, quoted: str = ""
) -> tuple[str, bool]:
    """The exact place, and whether it is outside; "" where there is none to go to."""
    if named.page_url and leads_out(named.page_url):
        return named.page_url, True
    if passage is None:
        return "", False
    return reading_link(passage.parent_doc_id, passage.chunk_id, quoted), False


def reading_link(parent_doc_id: str, chunk_id: str = "", quoted: str = "") -> str:
    """The reading page of a lesson, at a passage, with its quoted words to be marked."""
    path = f"/read/{quote(parent_doc_id, safe='')}"
    if not chunk_id:
        return path
    marks = {"quote": quoted[:MAX_QUOTE]} if quoted else {}
    query = urlencode({"passage": chunk_id, **marks})
    return f"{path}?{query}#{anchor(chunk_id)}"


def anchor(chunk_id: str) -> str:
    return f"passage-{chunk_id}"
