"""Every question, from the moment it is accepted until its answer is posted."""
