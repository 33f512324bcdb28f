"""What is read from words alone: sentences, blocks, stems, and the language they are in."""
