"""From evidence to an answer that can be checked."""
