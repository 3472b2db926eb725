"""Data of one operation and one request: what is selected, and where its values go."""
