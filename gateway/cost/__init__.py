"""What operations cost: worked out before they run, bounded, and charged to who sends them."""
