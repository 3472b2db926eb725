"""Benchmarks, compared with peers: `python -m bench.NAME [--quick]` (see bench/README.md)."""
