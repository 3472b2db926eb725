"""Bringing data in from files and writing it out again; `docs/import.md` describes the formats."""
