"""A request's loaders: each batches the keys asked in one turn of the loop, and remembers them."""

from datasources.protocols import Stores
from loaders import compiled  # noqa: F401  before what was compiled
from loaders.lists import (
    EdgeByKeyLoader,
    EdgesByListLoader,
    HeadByListLoader,
    UserIdByUsernameLoader,
)
from loaders.objects import (
    BoardByIdLoader,
    CommentByIdLoader,
    InterestByIdLoader,
    PinByIdLoader,
    UserByIdLoader,
)


class Loaders:
    """A fresh set for one request; never shared, since what they remember is never forgotten."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self.reset()

    @property
    def torn(self) -> bool:
        """Whether what was loaded is of several moments, between which people moved pins."""
        return self.pages.torn

    def read_again(self) -> None:
        """Forget everything; when the first page is asked, load all that were as of one moment."""
        ahead = self.pages.shown()
        self.reset()
        self.pages.ahead = ahead

    def reset(self) -> None:
        """Forget everything: after a mutation, its payload must read what it wrote."""
        stores = self._stores
        self.pins = PinByIdLoader(stores)
        self.boards = BoardByIdLoader(stores)
        self.users = UserByIdLoader(stores)
        self.comments = CommentByIdLoader(stores)
        self.interests = InterestByIdLoader(stores)
        self.pages = EdgesByListLoader(stores)
        self.heads = HeadByListLoader(stores)
        self.edges = EdgeByKeyLoader(stores)
        self.user_ids = UserIdByUsernameLoader(stores)
