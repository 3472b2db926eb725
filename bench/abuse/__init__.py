"""What a stranger can do to a gateway, measured."""
