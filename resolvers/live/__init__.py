"""The streams of subscriptions: what their events are, and whether their viewers may see them."""
