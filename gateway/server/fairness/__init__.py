"""Fairness: what one client may take of a process, so that other clients are answered."""
