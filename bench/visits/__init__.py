"""Measures new visits of the home feed."""
