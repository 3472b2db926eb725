"""Drills: what becomes of requests for feeds while stores die, hang and lie, on real servers.

`python -m bench.drills [--quick]` (or `make drill`) starts the servers, imports the demo's people,
and serves them by `pinway serve` with the default policy, each role of the feed stores behind a
proxy. While requests come at a constant rate, it does to the servers what `faults` lists. `judge`
says what a good answer is, by an oracle that knows the imported lines alone. Latencies count from
when a request was due. README.md keeps the figures, `plots` a plot over time for each drill.
"""
