"""Shards on real servers: moves under load, a hung master, reads of pins, comparisons."""
