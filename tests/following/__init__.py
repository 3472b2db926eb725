"""A model of the following feed, and random schedules that hold the feed against it."""
