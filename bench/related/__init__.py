"""Related pins by walks, on people's real saves and on large graphs."""
