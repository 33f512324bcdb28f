"""What the questions tell: what the documents lack, and how the answers do."""
