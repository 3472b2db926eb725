"""The cost of operations: estimated before they run, bounded, and charged to the client."""
