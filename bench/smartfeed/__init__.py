"""Judges the home feed's order by simulated people who like pins."""
