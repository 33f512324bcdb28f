"""Qdrant's engine in this process."""
