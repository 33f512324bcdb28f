"""What of the sections found answers a question, and how sure that is."""
