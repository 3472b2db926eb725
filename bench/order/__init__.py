"""The order of pins on a board: `python -m bench.order [--quick]`."""
