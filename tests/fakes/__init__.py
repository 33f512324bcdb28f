"""Stand-ins that behave like what they stand for."""
