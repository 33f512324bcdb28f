"""What goes over HTTP as JSON, and its description."""
