"""Commands and buttons: what people do besides writing."""
