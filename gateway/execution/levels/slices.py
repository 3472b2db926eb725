"""The sizes of work between two rests of the event loop."""

SLICE = 256
"""The maximum number of objects made, or values completed, between two reads of the clock."""
AT_ONCE = 8
"""The number of slices for which a bulk resolver is called at a time, and that are freed in one
turn of the event loop."""
BUDGET = 0.004
"""The maximum seconds of work between rests of the event loop."""
