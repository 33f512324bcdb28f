"""The browser and HTTP."""
