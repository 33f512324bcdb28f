"""Where people come in: one package a platform, none knows another."""
