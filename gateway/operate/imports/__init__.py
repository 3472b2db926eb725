"""Imports data from files, and exports it; `docs/import.md` describes the formats."""
