"""Sharded objects and mappings over SQL: what the SQLite and the MySQL backend have in common."""
