"""The contenders: ASGI applications over the same data, each in its own process."""
