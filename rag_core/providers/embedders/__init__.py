"""Texts into vectors: here, or by a service."""
