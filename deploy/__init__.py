"""How Pinway's real servers start: on this host, or in containers."""
