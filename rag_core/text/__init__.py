"""Markdown as a tree of what may be shown, and the ways to write it."""
