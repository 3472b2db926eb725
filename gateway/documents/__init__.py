"""Documents of operations: read, validated, bounded, and kept for later requests."""
