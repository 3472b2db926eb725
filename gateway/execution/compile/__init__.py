"""Assembles an operation once: how each of its fields is resolved and completed."""
