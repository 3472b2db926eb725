"""Masters, slaves and moves of shards, without a driver: decisions about the next step, and SQL
statements."""
