"""The web client in a browser: the time until the first feed, and scrolling through 5,000 pins."""
