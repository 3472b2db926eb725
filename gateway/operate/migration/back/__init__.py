"""Brings what changes in Pinway after the cut-over back to the old database."""
