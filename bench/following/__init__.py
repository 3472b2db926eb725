"""Fan-out and reading of the following feed, compared with bare puts and Redis sorted sets."""
