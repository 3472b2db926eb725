"""Models of the following feed and of visits, with which random schedules compare the feeds."""
