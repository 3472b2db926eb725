"""Feeds over embedded stores."""

from tests.feeds import feeding, valkey

__all__ = ["feeding", "valkey"]
