"""Learns the weights of the home feed's order for an operator: reads the examples, and judges."""

from collections.abc import Callable
from typing import Any

from feed_engine.feeds.learning.examples import read_examples
from gateway.site.runtime import Runtime


async def train_feed(
    runtime: Runtime, viewers: int, seed: int, on_viewers: Callable[[int], None]
) -> dict[str, Any]:
    """The outcome of a training in plain values. Nothing is installed. Raises StoreError."""
    from feed_engine.feeds.learning.training import train

    stores = runtime.opened or runtime.stores
    examples = await read_examples(stores, viewers=viewers, seed=seed, on_viewers=on_viewers)
    formula = runtime.feeds.settings.weights
    told = train(examples, formula, seed=seed)._asdict()
    for name in ("weights", "fitted"):
        told[name] = told[name] and told[name]._asdict()
    return told | {"settings": formula._asdict()}
