"""Operators' tasks on a gateway and its stores: backups, checks, plans."""
