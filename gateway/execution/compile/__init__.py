"""What is worked out once for an operation: how each field is resolved and completed."""
