"""The fast path: resolves a selection and everything below it without response positions, and
writes the objects as JSON with compiled code."""
