"""Threads, their sessions and their turns."""
