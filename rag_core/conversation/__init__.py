"""What one chat thread is, and what is known of it."""
