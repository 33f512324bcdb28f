"""Whether an answer says what its evidence says."""
