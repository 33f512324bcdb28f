"""The path of a question: accepted once, answered once, in order."""
