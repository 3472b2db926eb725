"""The fast path: a selection and everything below it made at once, written as JSON by C code."""
