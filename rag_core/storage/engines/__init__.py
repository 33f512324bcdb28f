"""The two databases, and what the stores see of them."""
