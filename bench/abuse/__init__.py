"""Measures the effect of an anonymous client's attacks on a gateway."""
