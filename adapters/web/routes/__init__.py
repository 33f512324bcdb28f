"""The addresses of the web door, one kind a file."""
