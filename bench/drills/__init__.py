"""Drills: what happens to requests for feeds while stores die, hang and give wrong answers, on real
servers.

`python -m bench.drills [--quick]` (or `make drill`) starts the servers, imports the demo's people,
and runs `pinway serve` with the default policy. Each role of the feed stores is behind a proxy.
While requests come at a constant rate, the drill applies a fault from `faults` to the servers.
`judge` decides which answers are good, with an oracle that knows only the imported lines. Latencies
are measured from when a request was due. README.md has the figures, and `plots` a plot over time
for each drill.
"""
