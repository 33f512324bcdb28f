"""The connection to Discord: its sessions, its calls, its limits."""
