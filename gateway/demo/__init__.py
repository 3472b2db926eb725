"""Demo content for the first start: pictures as pins, and people who collect them."""
