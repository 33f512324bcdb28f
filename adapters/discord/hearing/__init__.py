"""What people write on Discord, until the desk has it."""
