"""Fan-out and reading of the following feed, beside bare puts and Redis sorted sets."""
