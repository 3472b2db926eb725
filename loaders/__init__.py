"""The loaders of one request: which loaders there are, and when they forget their values."""

from typing import Any

from datasources.ids import Kind
from datasources.protocols import Stores
from datasources.records import Board, Comment, Interest, Pin, Section, User
from loaders import compiled  # noqa: F401  must be imported before the compiled modules
from loaders.lists import (
    EdgeByKeyLoader,
    EdgesByListLoader,
    HeadByListLoader,
    UserIdByUsernameLoader,
)
from loaders.objects import ObjectByIdLoader, by_id


class Loaders:
    """The loaders of one request. Requests never share loaders: a loader keeps each value that it
    has loaded until `reset`."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self.reset()

    @property
    def of_kinds(self) -> dict[Kind, ObjectByIdLoader[Any]]:
        """The loaders of objects."""
        loaders = (it for it in vars(self).values() if isinstance(it, ObjectByIdLoader))
        return {loader.kind: loader for loader in loaders}

    @property
    def torn(self) -> bool:
        """Whether pages that were loaded contradict each other, because pins were moved between
        two batches."""
        return self.pages.torn

    def read_again(self) -> None:
        """Forget all values. The next batch of pages also loads every page of a hand-ordered list
        that the request had loaded before, so that all of them are of one moment."""
        ahead = self.pages.shown()
        self.reset()
        self.pages.ahead = ahead

    def reset(self) -> None:
        """Forget all values. The payload of a mutation must read what the mutation wrote."""
        stores = self._stores
        self.pins = by_id(Pin, stores)
        self.boards = by_id(Board, stores)
        self.users = by_id(User, stores)
        self.comments = by_id(Comment, stores)
        self.interests = by_id(Interest, stores)
        self.sections = by_id(Section, stores)
        self.pages = EdgesByListLoader(stores)
        self.heads = HeadByListLoader(stores)
        self.edges = EdgeByKeyLoader(stores)
        self.user_ids = UserIdByUsernameLoader(stores)
