"""Tests claim what a user cares about; fakes behave, peers are strict."""
