"""Finds the setting that a misspelt name means."""

from difflib import get_close_matches

from gateway.settings.model import NAMES
from gateway.settings.old_names import OLD_NAMES


def nearest(name: str, cutoff: float = 0.6) -> str | None:
    """The full name of the setting with the most similar name; None if none is similar.

    A name without its table, and an old name, are recognized too. `cutoff` is the least similarity
    of difflib, from 0 to 1.
    """
    short = {full.rpartition(".")[2]: full for full in reversed(NAMES)}
    meant = OLD_NAMES | short | {full: full for full in NAMES}
    close = get_close_matches(name.lower(), meant, 1, cutoff=cutoff)
    return meant[close[0]] if close else None
