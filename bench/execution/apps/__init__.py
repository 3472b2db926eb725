"""The contenders: ASGI applications over the same data, each in a process of its own."""
