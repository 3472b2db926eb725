"""Brings the rows of an unsharded database to Pinway; `docs/how-to/migrate.md` describes it."""
