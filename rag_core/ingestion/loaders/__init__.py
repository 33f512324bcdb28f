"""From the bytes of one file to its text, its settings and its title."""

from rag_core.ingestion.loaders.container import Limits
from rag_core.ingestion.loaders.document import LoadedDocument, file_hash, title_of
from rag_core.ingestion.loaders.reading import Loader, fields_of, load, read_source

__all__ = [
    "Limits",
    "LoadedDocument",
    "Loader",
    "fields_of",
    "file_hash",
    "load",
    "read_source",
    "title_of",
]
