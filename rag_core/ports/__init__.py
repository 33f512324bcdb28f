"""The ports of the core: what it needs from models, stores and databases, in its own words."""

from __future__ import annotations

from rag_core.ports.books import BookStore, PolicyStore, SourceStore
from rag_core.ports.conversations import ConversationStore
from rag_core.ports.installations import InstallationStore
from rag_core.ports.jobs import JobStore
from rag_core.ports.ledger import Ledger
from rag_core.ports.models import ChatModel, Embedder, Reader, Reading, Reranker, Vector, Verifier
from rag_core.ports.records import FeedbackStore, ForgettingStore, MarkerStore, TicketStore
from rag_core.ports.tenants import TenantStore
from rag_core.ports.usage import UsageStore
from rag_core.ports.vectors import EmbeddedQuery, EmbeddedText, VectorStore

__all__ = [
    "BookStore",
    "ChatModel",
    "ConversationStore",
    "EmbeddedQuery",
    "EmbeddedText",
    "Embedder",
    "FeedbackStore",
    "ForgettingStore",
    "InstallationStore",
    "JobStore",
    "Ledger",
    "MarkerStore",
    "PolicyStore",
    "Reader",
    "Reading",
    "Reranker",
    "SourceStore",
    "TenantStore",
    "TicketStore",
    "UsageStore",
    "Vector",
    "VectorStore",
    "Verifier",
]
