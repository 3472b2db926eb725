"""Benchmarks, each beside its peers: `python -m bench.NAME [--quick]` (see bench/README.md)."""
