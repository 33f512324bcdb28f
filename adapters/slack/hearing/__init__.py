"""What comes from Slack, until the desk has it."""
