"""Which book is which, and who reads it where."""
