"""The executor in one path: each place of an operation is a table, and errors and nulls change
numbers in it."""

import os

CHOSEN = os.environ.get("PINWAY_EXECUTOR") == "levels"
"""Whether operations run on tables (`PINWAY_EXECUTOR=levels` in the environment). Without it, the
packages `run` and `fused` run them."""
