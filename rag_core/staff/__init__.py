"""Answers that people gave where the documents had none, kept as a source of their own."""
