"""How sure the evidence makes us."""
