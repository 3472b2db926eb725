"""Serving: the listening socket, one process's server, and several workers on one port."""
