"""The settings, one module for each part of the house."""
