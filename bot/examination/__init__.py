"""What `footnote doctor` and admins in a chat look at, one part of the house a module."""
