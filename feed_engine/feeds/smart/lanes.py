"""The lanes of a fan-out that write to pools which all users read: popular pins and interests."""

from collections.abc import Sequence

from datasources.protocols import Stores, WideColumnStore
from datasources.records import Pin
from feed_engine.feeds.lanes import Lane, Save, on_side
from feed_engine.feeds.settings import FeedSettings
from feed_engine.feeds.smart.interests import put_pin
from feed_engine.feeds.smart.popular import update_side


def popular(stores: Stores, store: WideColumnStore, pin: Pin, settings: FeedSettings) -> Lane:
    async def lane(place: str, save: Save) -> None:
        await on_side(store, lambda store: update_side(stores, store, [pin], settings))

    return lane


def interests(
    stores: Stores,
    store: WideColumnStore,
    pin: Pin,
    interest_ids: Sequence[int],
    at: int,
    settings: FeedSettings,
) -> Lane:
    still = [id for id in interest_ids if id in pin.interest_ids]

    async def lane(place: str, save: Save) -> None:
        await on_side(store, lambda store: put_pin(store, stores, pin, still, at, settings))

    return lane
