"""Answers in the sentences of the evidence, as they stand."""
