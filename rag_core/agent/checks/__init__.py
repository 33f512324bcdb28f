"""What is checked before an answer leaves: its markers, its support, its links."""
