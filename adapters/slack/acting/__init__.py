"""What people do with an answer, and besides asking."""
