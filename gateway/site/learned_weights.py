"""The learned weights of the home feed's order, which are stored among the switches beside the
topology. Every gateway learns of a change within a second.
"""

import logging
from collections.abc import Mapping

from datasources.errors import StoreError
from datasources.protocols import Switches
from feed_engine.feeds.learning.learned import NAME, Learned, decode, encode
from feed_engine.feeds.settings import Override

log = logging.getLogger("pinway")


async def install(switches: Switches, learned: Learned | None) -> None:
    """Make all running gateways use these weights, or the settings' weights (None). Raises
    StoreError."""
    await switches.change({NAME: None if learned is None else encode(learned)})


async def load(switches: Switches, override: Override) -> None:
    """Use the weights that are stored now. While they can't be read, the settings' weights hold."""
    try:
        apply(await switches.load(), override)
    except StoreError as error:
        log.warning("the learned weights can't be read: the settings' weights hold: %s", error)


async def follow(switches: Switches, override: Override) -> None:
    """Use the stored weights, until cancelled."""
    async for switched in switches.watch():
        apply(switched, override)


def apply(switched: Mapping[str, str], override: Override) -> None:
    """Use the weights among the switches. If there are none, or they can't be read, the settings'
    weights hold."""
    try:
        learned = decode(switched)
    except ValueError as error:
        log.warning("the learned weights are damaged: the settings' weights hold: %s", error)
        learned = None
    weights = None if learned is None else learned.weights
    if weights != override.weights:
        log.info("the home feed's order uses %s now", weights or "the settings' weights")
    override.weights = weights
