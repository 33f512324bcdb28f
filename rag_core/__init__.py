"""The brain: documents, retrieval, answers and the desk, with no chat platform at all."""
