"""A running gateway beside its endpoint: its stores, their creation, background work."""
