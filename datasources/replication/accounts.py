"""The account with which servers log in to each other."""

from typing import NamedTuple


class Replica(NamedTuple):
    """The account with which slaves log in."""

    user: str
    password: str
