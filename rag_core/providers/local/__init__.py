"""What runs models on this machine: their files, their sessions, the encoder."""
