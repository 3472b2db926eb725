"""Feeds over embedded stores."""

from tests.feeding import feeding, valkey

__all__ = ["feeding", "valkey"]
