"""Content to look at from the first start: brand icons as pins, and people who collect them."""
