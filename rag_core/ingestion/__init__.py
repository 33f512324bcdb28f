"""From files to chunks that can be found and cited."""
