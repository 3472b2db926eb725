"""Writes to Pinway like a site after a cut-over: random creations, changes, moves and deletions of
objects of all kinds, by old and new users, some of them refused."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random
from typing import TypeVar

from datasources import records
from datasources.errors import PinwayError
from datasources.protocols import Stores
from datasources.records import Board, Comment, Pin, Record, User
from feed_engine.ordering.reorder import reorder_pin
from feed_engine.transactions.inputs import (
    BoardChange,
    Deletion,
    NameChange,
    NewBoard,
    NewComment,
    NewPin,
    NewUser,
    PinChange,
    ProfileChange,
)
from feed_engine.writes.accounts import delete_account
from feed_engine.writes.boards import create_board, delete_board, update_board
from feed_engine.writes.comments import create_comment, delete_comment
from feed_engine.writes.follows import follow, unfollow
from feed_engine.writes.keys import change_user_name
from feed_engine.writes.likes import like_pin, unlike_pin
from feed_engine.writes.move import move_pin
from feed_engine.writes.pins import create_pin, delete_pin, repin, update_pin
from feed_engine.writes.users import sign_up, update_profile
from tests.migration.pinway_site import pinway_stores, settled

R = TypeVar("R", bound=Record)


class PinwaySite:
    """Use it as a context manager: it writes until the end of the block, and then does its
    tasks."""

    def __init__(self, data: Path, seed: int, *, prefix: str = "u", pause: float = 0.01) -> None:
        """`prefix` is the start of new users' names."""
        self._data, self._random, self._pause = data, Random(seed), pause
        self._prefix = prefix
        self._ends, self._opened = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run_all)
        self._error: BaseException | None = None
        self._number = 0
        self.written = 0

    def __enter__(self) -> "PinwaySite":
        self._thread.start()
        self._opened.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join()
        if self._error is not None:
            raise self._error

    def wait_for(self, written: int) -> None:
        """Wait until the site has written so often, or has failed."""
        while self.written < written and self._thread.is_alive():
            self._thread.join(0.1)

    def _run_all(self) -> None:
        try:
            asyncio.run(self._write())
        except BaseException as error:
            self._error = error
        finally:
            self._opened.set()

    async def _write(self) -> None:
        async with pinway_stores(self._data) as stores:
            self._opened.set()
            while not self._ends.is_set():
                try:
                    await self._act(stores)
                    self.written += 1
                except PinwayError:
                    pass  # refused, as a site's wrong requests are
                await asyncio.sleep(self._pause)
            await settled(stores)

    def _new(self, what: str) -> str:
        """A text that no other object has."""
        self._number += 1
        return f"{what} {self._number}"

    async def _act(self, stores: Stores) -> None:
        choose = self._random.choice
        user, other = await self._some(stores, User), await self._some(stores, User)
        board, pin = await self._some(stores, Board), await self._some(stores, Pin)
        target, comment = await self._some(stores, Pin), await self._some(stores, Comment)
        on = await self._some(stores, Board)
        to = on if on.owner_id == pin.owner_id else board
        secret = choose((True, False))
        name = f"{self._prefix}{self._random.randrange(30)}"
        renamed = BoardChange(name=self._new("Renamed"), secret=secret)
        acts: list[Callable[[], Awaitable[object]]] = [
            lambda: sign_up(stores, NewUser(username=name, about=self._new("About"))),
            lambda: update_profile(stores, user.id, ProfileChange(full_name=self._new("Name"))),
            lambda: change_user_name(stores, user.id, NameChange(username=name)),
            lambda: create_board(stores, user.id, NewBoard(name=self._new("Board"), secret=secret)),
            lambda: update_board(stores, board.owner_id, board.id, renamed),
            lambda: update_board(
                stores, pin.owner_id, pin.board_id, BoardChange(cover_pin_id=pin.id)
            ),
            lambda: create_pin(
                stores, board.owner_id, NewPin(board_id=board.id, title=self._new("Fresh"))
            ),
            lambda: self._repin(stores, user, pin, board),
            lambda: update_pin(stores, pin.owner_id, pin.id, PinChange(title=self._new("Edited"))),
            lambda: move_pin(stores, pin.owner_id, pin.id, to.id),
            lambda: reorder_pin(
                stores, pin.owner_id, pin.board_id, pin.id, before_pin_id=target.id
            ),
            lambda: delete_pin(stores, pin.owner_id, pin.id),
            lambda: like_pin(stores, user.id, pin.id),
            lambda: unlike_pin(stores, user.id, pin.id),
            lambda: follow(stores, user.id, other.id),
            lambda: unfollow(stores, user.id, other.id),
            lambda: create_comment(
                stores, user.id, NewComment(pin_id=pin.id, text=self._new("Comment"))
            ),
            lambda: delete_comment(stores, comment.author_id, comment.id),
        ]
        rare: list[Callable[[], Awaitable[object]]] = [
            lambda: delete_board(stores, board.owner_id, board.id),
            lambda: delete_account(stores, user.id, Deletion(username=user.username)),
        ]
        await choose(rare if self._random.random() < 0.02 else acts)()

    async def _repin(self, stores: Stores, user: User, pin: Pin, board: Board) -> None:
        copy = await repin(stores, board.owner_id, pin.id, board.id)
        change = PinChange(title=self._new("Copy"))
        await update_pin(stores, board.owner_id, copy.pin.id, change)

    async def _some(self, stores: Stores, kind: type[R]) -> R:
        """Any object of a kind, deleted objects included."""
        of = records.KINDS[kind]
        id, data = self._random.choice(await stores.shards.objects.list(of, 0, 10_000))
        found = records.decode(of, id, data)
        assert isinstance(found, kind)
        return found
