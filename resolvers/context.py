"""The context of a request for its resolvers: its viewer, loaders and stores."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from math import inf
from typing import NewType

from datasources.errors import BadInput, RequestError, Unauthenticated
from datasources.ids import InvalidId, Kind, parse
from datasources.protocols import SearchStore, Stores
from feed_engine.feeds.settings import Feeds
from feed_engine.live.hub import Hub
from feed_engine.live.waiting import Waiting
from feed_engine.related.walks import Walks
from feed_engine.transactions.blocks import Blocks
from loaders import Loaders
from resolvers.cursors import OF_THIS_PROCESS, Cursors
from resolvers.feed_tokens import TOKENS_OF_THIS_PROCESS, FeedTokens
from resolvers.readings import Readings
from resolvers.scan_limit import Scanning
from resolvers.visit import Beginning

ID = NewType("ID", str)
"""An argument of GraphQL type ID: the 64-bit id as a decimal string."""


@dataclass(slots=True)
class Context:
    """One request.

    `public_url` is the gateway's own address, without a slash at its end. `issue_token` makes a
    bearer token for a user. `subject` is the key of the subject that the request's token has in
    place of an id, if it is a token of another issuer; the subject's user may not exist yet.
    `subject_of` reads such a token, and returns its subject's key; None if subjects name nobody.
    `sign_upload` makes the address to which a user sends an upload, with
    the epoch seconds until which it holds; None if nothing is uploaded. `sign_export` makes the
    address of the file with a user's data that was requested at an epoch ms; None likewise. `asked`
    has the names of all fields in the request's document. `cursors` writes and reads the lists'
    cursors, and `feed_tokens` the payloads' feed tokens.
    `visit` is the home feed's visit that the request begins. `signing_up` counts a new account for
    the client's address; it returns 0, or the seconds to wait if the address made too many.
    `walks` finds related pins, `search` is the index of texts, `live` has the streams of this
    process, and `waiting` looks for pins that wait in pools.
    `issued` is the epoch second at which the viewer's token was issued, and `renewable` the epoch
    second from which on it may be renewed; never (inf) if the gateway did not issue it.
    `blocks` are the viewer's blocks, once they were read, and `reading` is their read;
    `looked_up` says whether further blocks were looked up (`resolvers.blocks`). `deleting`: the
    request deletes the viewer's account.
    """

    stores: Stores
    feeds: Feeds
    viewer_id: int | None
    public_url: str
    issue_token: Callable[[int], str | None]
    sign_upload: Callable[[int, int], tuple[str, int]] | None = None
    sign_export: Callable[[int, int], str] | None = None
    subject: str = ""
    subject_of: Callable[[str], Awaitable[str]] | None = None
    asked: frozenset[str] = frozenset()
    cursors: Cursors = OF_THIS_PROCESS
    feed_tokens: FeedTokens = TOKENS_OF_THIS_PROCESS
    signing_up: Callable[[], Awaitable[float]] | None = None
    walks: Walks | None = None
    live: Hub | None = None
    waiting: Waiting | None = None
    search: SearchStore | None = None
    issued: float = inf
    renewable: float = inf
    visit: Beginning = field(init=False, default_factory=Beginning)
    scanning: Scanning = field(init=False, default_factory=Scanning)
    loaders: Loaders = field(init=False)
    blocks: Blocks | None = field(init=False, default=None)
    deleting: bool = field(init=False, default=False)
    looked_up: bool = field(init=False, default=False)
    reading: "asyncio.Task[Blocks | None] | None" = field(init=False, default=None)
    readings: Readings = field(init=False)

    def __post_init__(self) -> None:
        self.loaders = Loaders(self.stores)
        self.readings = Readings(self.loaders)

    @property
    def closed(self) -> bool:
        """Whether the request turned out to be of a deleted account, and is not its deletion, or to
        have a token that is refused. Everything is hidden from it."""
        known = self.blocks
        return known is not None and known.closes(self.viewer_id) and not self.deleting

    @property
    def fault(self) -> RequestError | None:
        """An error of the answer as a whole, in addition to the errors of its fields."""
        return self.readings.fault

    def again(self) -> bool:
        """Whether the operation's last step must run again, because pins moved during it."""
        return self.readings.again()

    def know(self, blocks: Blocks) -> Blocks:
        """Take the viewer's blocks. A token that is refused sees nothing, as a deleted account."""
        viewer_id = self.viewer_id
        if viewer_id is not None and blocks.refuses(self.issued):
            blocks = blocks._replace(ids=blocks.ids | {viewer_id})
        self.blocks = blocks
        return blocks

    def forget(self) -> None:
        """Forget all values that were read, because a write may have changed them."""
        self.loaders.reset()
        self.blocks = self.reading = None

    def require_viewer(self) -> int:
        """The viewer's id. Raises Unauthenticated."""
        if self.viewer_id is None:
            raise Unauthenticated("sign in first: send a bearer token in the Authorization header")
        return self.viewer_id


def optional_id(text: str | None, kind: Kind, *, argument: str) -> int | None:
    """The id that a client sent, if it sent one. Raises BadInput as `object_id`."""
    return None if text is None else object_id(text, kind, argument=argument)


def object_id(text: str, kind: Kind | None = None, *, argument: str = "id") -> int:
    """The id that a client sent. Raises BadInput that says what is wrong with it."""
    try:
        return parse(text, kind)
    except InvalidId as error:
        raise BadInput(str(error), argument) from None
