"""Learns the weights of the home feed's order from what viewers do with pins."""
