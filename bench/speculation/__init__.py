"""The race compared with other projects' rules: `python -m bench.speculation`."""
