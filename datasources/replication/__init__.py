"""Masters, slaves and moves of shards, without a driver: the next step and its statements."""
