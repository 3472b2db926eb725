"""Sign-outs and renewals of tokens, which may happen at the same time."""

import asyncio

import pytest

from datasources.errors import NotFound, Unauthenticated
from datasources.protocols import Stores
from datasources.redis.broadcasts import RedisBroadcasts
from datasources.valkey import ValkeyServer
from feed_engine import writes
from feed_engine.live.events import SignedOut, decode, session_topic
from feed_engine.live.hub import Heard, Hub
from feed_engine.transactions import blocks
from feed_engine.transactions.blocks import Blocks
from feed_engine.writes import sessions
from tests.embedded_stores import PATIENT, drain
from tests.people import People

pytestmark = pytest.mark.anyio
AT = 1_800_000_000_000


async def test_a_sign_out_refuses_tokens_that_are_not_newer(stores: Stores, people: People) -> None:
    ann, bob = await people.user(), await people.user()
    await writes.sign_out_everywhere(stores, ann.id, at=AT)
    known = await blocks.read(stores, ann.id)
    assert known == Blocks(frozenset(), True, AT)
    assert [known.refuses(AT / 1000 + later) for later in (-1, 0, 0.001, 1)] == [
        *(True, True),
        *(False, False),
    ]
    assert known.refuses(0)
    assert not known.refuses(float("inf"))
    assert await blocks.read(stores, bob.id) == blocks.NONE
    assert not blocks.NONE.refuses(0)


async def test_a_sign_out_by_a_clock_that_is_behind_ends_no_earlier_one(
    stores: Stores, people: People
) -> None:
    ann = await people.user()
    for at in (AT, AT - 5000):
        await writes.sign_out_everywhere(stores, ann.id, at=at)
        assert (await blocks.read(stores, ann.id)).signed_out == AT
    await writes.sign_out_everywhere(stores, ann.id, at=AT + 1)
    assert (await blocks.read(stores, ann.id)).signed_out == AT + 1


async def test_the_blocks_stay_beside_a_sign_out(stores: Stores, people: People) -> None:
    ann, bob = await people.user(), await people.user()
    await writes.block_user(stores, ann.id, bob.id)
    await writes.sign_out_everywhere(stores, ann.id, at=AT)
    known = await blocks.read(stores, ann.id)
    assert known == Blocks(frozenset({bob.id}), True, AT)
    assert blocks.decode(blocks.encode(known)) == known
    assert not known.closes(ann.id)
    await writes.unblock_user(stores, ann.id, bob.id)
    known = await blocks.read(stores, ann.id)
    assert blocks.decode(blocks.encode(known)) == known == Blocks(frozenset(), True, AT)


def test_an_entry_of_an_earlier_version_is_read() -> None:
    assert blocks.decode(b"[true,5,6]") == Blocks(frozenset({5, 6}))
    assert blocks.decode(b"[false]") == Blocks(frozenset(), False)


async def test_a_refused_token_is_not_renewed(stores: Stores, people: People) -> None:
    ann = await people.user()
    assert await sessions.renew(stores, ann.id, 5.0, lambda: "new") == "new"
    await writes.sign_out_everywhere(stores, ann.id, at=AT)
    with pytest.raises(Unauthenticated):
        await sessions.renew(stores, ann.id, AT / 1000, lambda: "new")
    assert await sessions.renew(stores, ann.id, AT / 1000 + 1, lambda: "new") == "new"
    await writes.delete_account(stores, ann.id, writes.Deletion(username=ann.username))
    with pytest.raises(NotFound):
        await sessions.renew(stores, ann.id, AT / 1000 + 1, lambda: "new")
    with pytest.raises(NotFound):
        await writes.sign_out_everywhere(stores, ann.id)
    await drain(stores)


async def test_other_processes_hear_of_a_sign_out(
    stores: Stores, people: People, valkey: ValkeyServer
) -> None:
    ann, bob = await people.user(), await people.user()
    other = Hub(RedisBroadcasts(valkey.url(0), deadline=PATIENT))
    try:
        async with (
            other.listening(session_topic(ann.id)) as anns,
            other.listening(session_topic(bob.id)) as bobs,
        ):
            await writes.sign_out_everywhere(stores, ann.id)
            heard = await anns.get()
            assert isinstance(heard, Heard)
            assert decode(heard.message.payload) == SignedOut(ann.id)
            await writes.sign_out_everywhere(stores, bob.id)
            assert isinstance(await bobs.get(), Heard)
    finally:
        await other.broadcasts.close()


async def test_a_token_that_is_renewed_beside_a_sign_out_is_refused(
    stores: Stores, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sign-out begins while the renewal holds the user's row, after its check."""
    ann = await people.user()
    times = iter(range(AT, AT + 100))
    monkeypatch.setattr(sessions, "now_ms", lambda: next(times))
    ended = None
    loop = asyncio.get_running_loop()

    def issue() -> float:
        nonlocal ended
        ended = loop.create_task(writes.sign_out_everywhere(stores, ann.id))
        return next(times) / 1000

    issued = await sessions.renew(stores, ann.id, 5.0, issue)
    assert ended is not None
    await ended
    assert (await blocks.read(stores, ann.id)).refuses(issued)
