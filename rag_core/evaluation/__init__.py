"""How well answers are found, measured on question sets."""
