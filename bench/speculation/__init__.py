"""The race beside other projects' rules: `python -m bench.speculation`."""
