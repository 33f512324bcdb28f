"""What goes to Slack: answers, and how far they are."""
