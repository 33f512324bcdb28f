"""What goes to Discord: answers, and how far they are."""
