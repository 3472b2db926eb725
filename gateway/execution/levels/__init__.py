"""Executes one request on tables: each place of an operation is a table, and errors and nulls
change values in its columns."""
