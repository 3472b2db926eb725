"""The executor beside stock strawberry, Mercurius with its JIT, and a resolver written by hand."""
