"""The executor compared with stock strawberry, Mercurius with its JIT, and a hand-written
resolver."""
