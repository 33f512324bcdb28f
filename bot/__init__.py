"""Puts the parts together: settings, wiring, the command line."""
