"""An index on a Qdrant server."""
