"""Compiles an operation once for all its requests: chooses how each field is resolved and
completed."""
