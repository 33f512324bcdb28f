"""One vendor, one module."""
