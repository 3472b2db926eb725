"""Sharded objects and mappings over SQL: the shared part of the SQLite and the MySQL backend."""
