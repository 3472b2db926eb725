"""Streams never show a stranger what is secret at the delivery of an event, whatever the owner does
meanwhile."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from resolvers.cursors import OF_THIS_PROCESS
from resolvers.live.places import BoardPlace
from tests.gateways import Gateway, embedded_gateway

pytestmark = pytest.mark.anyio
BOARD = """subscription($id: ID!) { boardChanged(boardId: $id) {
  kind pinId abovePinId pin { title description board { name } } board { name } } }"""
PIN = """subscription($id: ID!) { pinChanged(pinId: $id) {
  kind pin { title description board { name } } comment { text } } }"""
STEPS = 120


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with embedded_gateway(tmp_path) as gateway:
        await gateway.sign_up("owner", "stranger")
        yield gateway


class Owner:
    """An owner who writes the word "hidden" on secret boards only, and removes it before a board
    becomes public."""

    def __init__(self, gateway: Gateway, rng: random.Random) -> None:
        self._gateway, self._rng = gateway, rng
        self.secret: dict[str, bool] = {}
        self.pins: dict[str, str] = {}
        self._hidden: set[str] = set()

    async def begin(self) -> None:
        for number in range(3):
            board = await self._gateway.board("owner", f"open {number}")
            self.secret[board] = False
            for _ in range(2):
                pin = await self._gateway.pin("owner", board, "open")
                self.pins[pin] = board

    async def step(self) -> None:
        actions = (self._flip, self._edit, self._move, self._add, self._comment)
        await self._rng.choice(actions)()

    def _text(self, board: str) -> str:
        return "hidden" if self.secret[board] else "open"

    async def _flip(self) -> None:
        board = self._rng.choice(list(self.secret))
        if self.secret[board]:
            for pin in [pin for pin, on in self.pins.items() if on == board]:
                await self._show(pin)
            await self._change_board(board, name="open")
        await self._change_board(board, secret=not self.secret[board])
        self.secret[board] = not self.secret[board]
        if self.secret[board]:
            await self._change_board(board, name="hidden")

    async def _change_board(self, board: str, **changes: object) -> None:
        await self._gateway.mutate("owner", "updateBoard", "board { id }", boardId=board, **changes)

    async def _show(self, pin: str) -> None:
        if pin in self._hidden:
            self._hidden.discard(pin)
            await self._gateway.mutate(
                "owner", "updatePin", "pin { id }", pinId=pin, title="open", description="open"
            )

    async def _edit(self) -> None:
        pin = self._rng.choice(list(self.pins))
        text = self._text(self.pins[pin])
        if text == "hidden":
            self._hidden.add(pin)
        await self._gateway.mutate(
            "owner", "updatePin", "pin { id }", pinId=pin, title=text, description=text
        )

    async def _move(self) -> None:
        pin, board = self._rng.choice(list(self.pins)), self._rng.choice(list(self.secret))
        if not self.secret[board]:
            await self._show(pin)
        await self._gateway.mutate("owner", "movePin", "pin { id }", pinId=pin, boardId=board)
        self.pins[pin] = board

    async def _add(self) -> None:
        board = self._rng.choice(list(self.secret))
        text = self._text(board)
        pin = await self._gateway.pin("owner", board, text)
        self.pins[pin] = board
        if text == "hidden":
            self._hidden.add(pin)

    async def _comment(self) -> None:
        pin = self._rng.choice(list(self.pins))
        text = self._text(self.pins[pin])
        if text == "open":
            await self._gateway.mutate(
                "owner", "createComment", "comment { id }", pinId=pin, text=text
            )


@pytest.mark.parametrize("seed", range(3))
async def test_a_stranger_never_hears_of_what_is_secret(gateway: Gateway, seed: int) -> None:
    owner, heard = Owner(gateway, random.Random(seed)), list[str]()
    await owner.begin()
    ended = 0

    async def listen(query: str, id: str) -> None:
        nonlocal ended
        while True:
            with suppress(AssertionError):  # it is secret now: NOT_FOUND
                async with gateway.subscribed(query, "stranger", id=id) as stream:
                    while (response := await stream.response()) is not None:
                        heard.append(str(response))
                    ended += 1
            await asyncio.sleep(0.001)

    watched = [(BOARD, id) for id in owner.secret] + [(PIN, id) for id in owner.pins]
    tasks = [asyncio.create_task(listen(query, id)) for query, id in watched]
    for _ in range(STEPS):
        await owner.step()
        await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert ended
    assert any("SAVED" in text for text in heard)
    assert not [text for text in heard if "hidden" in text]


async def test_nobody_resumes_at_a_place_that_the_gateway_did_not_give(gateway: Gateway) -> None:
    """Otherwise a reader could name a moment at which the board was secret."""
    board = await gateway.board("owner", "open")
    query = "subscription($after: String) { boardChanged(boardId: %s, after: $after) { cursor } }"
    async with gateway.subscribed(query % board, "stranger") as stream:
        cursor = (await stream.next())["cursor"]
    place = BoardPlace.read(OF_THIS_PROCESS.sealed_place(cursor))
    assert place is not None
    for secret in (True, False):
        await gateway.mutate("owner", "updateBoard", "board { id }", boardId=board, secret=secret)
    forged = place._replace(flips=place.flips + 2).text()
    with pytest.raises(AssertionError, match="after is not a cursor of this subscription"):
        async with gateway.subscribed(query % board, "stranger", after=forged):
            pass
