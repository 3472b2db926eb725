"""The tests of compiled code that are collected only where it is built."""

from loaders.compiled import WANTED

collect_ignore = [] if WANTED else ["test_layout.py", "test_written.py"]
"""The tests of modules that exist only as compiled code are not collected without it."""
