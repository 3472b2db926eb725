"""The stored form of learned weights: a switch beside the topology, which all gateways watch."""

from collections.abc import Mapping
from typing import Annotated

import msgspec

from feed_engine.feeds.settings import Weights

NAME = "feeds.learned"
"""The switch's name."""
MOST = 100.0
"""A learned weight, at most."""

Weight = Annotated[float, msgspec.Meta(ge=0, le=MOST)]


class Learned(msgspec.Struct, frozen=True):
    """Learned weights, and the epoch ms at which they were trained."""

    affinity: Weight
    likes: Weight
    trained: int

    @property
    def weights(self) -> Weights:
        return Weights(self.affinity, self.likes)


def encode(learned: Learned) -> str:
    return msgspec.json.encode(learned).decode()


def decode(switched: Mapping[str, str]) -> Learned | None:
    """The learned weights among the switches. None if there are none. Raises ValueError for weights
    that can't be read."""
    text = switched.get(NAME)
    return None if text is None else msgspec.json.decode(text, type=Learned)
