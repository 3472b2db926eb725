"""Models of the following feed and of visits, which random schedules hold the feeds against."""
