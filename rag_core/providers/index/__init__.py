"""What both indexes do alike."""
