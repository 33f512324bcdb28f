"""What chat clients make of a message, written from the platforms' behaviour."""
