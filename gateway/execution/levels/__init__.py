"""The executor in one path: each place of an operation is a table, and errors and nulls change
numbers in it."""

import os

CHOSEN = os.environ.get("PINWAY_EXECUTOR") != "attempts"
"""Whether operations run on tables. With `PINWAY_EXECUTOR=attempts` in the environment, the
packages `run` and `fused` run them."""
