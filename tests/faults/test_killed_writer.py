"""A writer that is killed at each of its seams: afterwards either all of the write has happened, or
none."""

import asyncio
import dataclasses
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from datasources.clocks import now_ms
from datasources.factory import StoresConfig
from datasources.ids import Kind
from datasources.mappings import ListKey, Mapping, PageRequest, lists_of_kind
from datasources.memory import MemoryObjectCache
from datasources.protocols import Job, Lease, Stores, Window
from datasources.records import User, decode
from datasources.valkey import ValkeyServer
from feed_engine import writes
from feed_engine.feeds.rows import FOLLOWING, id_row
from feed_engine.outbox.completion import settle
from feed_engine.outbox.jobs import run_job
from feed_engine.transactions import access
from feed_engine.transactions.key_kinds import EMAIL, SUBJECT, KeyKind
from tests.audit import audit
from tests.embedded_stores import drain, embedded_config, embedded_stores, flush
from tests.faults.writer import WRITES, Ids, email_of, subject_of
from tests.people import People
from tests.relay_page import relay_once
from tests.scale import scaled

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]
NAMES = {  # The names of a scene's ids.
    Kind.USER: ("viewer", "other"),
    Kind.BOARD: ("board", "second", "secret"),
    Kind.PIN: ("pin", "foreign"),
    Kind.INTEREST: ("interest",),
}


class Writer(NamedTuple):
    """A process that makes a write and is killed at one of its seams."""

    config: StoresConfig
    process: subprocess.Popen[str]

    def write(self, name: str, ids: Ids, last: int) -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        order = {
            "config": dataclasses.asdict(self.config),
            "write": name,
            "ids": ids,
            "last": last,
        }
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        ended: str = json.loads(self.process.stdout.readline())
        return ended


@pytest.fixture
async def config(valkey: ValkeyServer, tmp_path: Path) -> StoresConfig:
    await flush(valkey)
    return embedded_config(tmp_path, valkey)


@pytest.fixture
async def stores(config: StoresConfig) -> AsyncIterator[Stores]:
    """The stores as a process opens them after the killed process."""
    async with embedded_stores(config) as opened:
        yield opened


@pytest.fixture(scope="module")
def process() -> Iterator[subprocess.Popen[str]]:
    """The process that makes each write in a fork. It keeps nothing of a write."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.faults.writer"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    yield process
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait() == 0


@pytest.fixture
def writer(config: StoresConfig, tmp_path: Path, process: subprocess.Popen[str]) -> Writer:
    """The writer has separate feed stores, because only one process may open them. It writes
    the log of changes for related pins there."""
    feeds = {
        name: f"rocksdb://{tmp_path}/writer/{name}"
        for name in ("pools_primary", "pools_standby", "feeds_primary", "feeds_standby")
    }
    return Writer(dataclasses.replace(config, **feeds), process)


async def _scene(people: People, number: int) -> Ids:
    """A viewer with a board of pins and two other boards; another user who follows the viewer and
    one board; and that user's pin."""
    viewer = await people.user()
    other = await people.user(away_from=viewer.id)
    board, interest = await people.board(viewer), await people.interest()
    pins = [await people.pin(board, interest) for _ in range(5)]
    second, secret = await people.board(viewer), await people.board(viewer, secret=True)
    under = await people.pin(second)
    await writes.follow(people.stores, other.id, second.id)
    foreign = await people.pin(await people.board(other))
    await writes.follow(people.stores, other.id, viewer.id)
    return {
        "number": number,
        "viewer": viewer.id,
        "other": other.id,
        "board": board.id,
        "second": second.id,
        "secret": secret.id,
        "under": under.id,
        "interest": interest.id,
        "pin": pins[1].id,
        "top": pins[-1].id,
        **{f"pin{number}": pin.id for number, pin in enumerate(pins)},
        "foreign": foreign.id,
    }


async def _recover(stores: Stores) -> None:
    """Recover from dead gateways as every gateway does: with the relay and a worker on the queue.
    Then the work of later days is done."""
    await _relay(stores)
    await drain(stores)


async def _relay(stores: Stores) -> None:
    quiet = asyncio.Event()

    async def run(job: Job) -> None:
        await run_job(stores, job)
        await settle()
        if not await stores.shards.outbox.pending(now_ms() + 60_000, 1):
            quiet.set()

    if not await relay_once(stores, older_than=-1):
        return
    worker = asyncio.ensure_future(stores.queue.work(run))
    await quiet.wait()
    worker.cancel()
    await asyncio.gather(worker, return_exceptions=True)


async def _warm(stores: Stores, ids: Ids) -> None:
    """Fill the caches of every list that the write may change, so that stale entries would be
    seen."""
    keys = [
        ListKey(mapping, id)
        for kind, names in NAMES.items()
        for mapping in lists_of_kind(kind)
        for name, id in ids.items()
        if name in names
    ]
    heads = await stores.shards.mappings.heads(keys)
    leases = await stores.mapping_cache.heads(keys)
    await stores.mapping_cache.fill_heads(
        [(it, heads[key]) for key, it in leases.items() if isinstance(it, Lease)]
    )
    requests = [PageRequest(key, 20) for key in keys]
    rows = await stores.shards.mappings.pages(requests)
    pages = await stores.mapping_cache.pages(requests)
    await stores.mapping_cache.fill_pages(
        [
            (page, Window(found, complete=True))
            for page, found in zip(pages, rows, strict=True)
            if isinstance(page, Lease)
        ]
    )


async def _in_feed(stores: Stores, user_id: int) -> int:
    return len(await stores.feeds.primary.read(FOLLOWING, id_row(user_id), limit=1000))


async def _pin_count(people: People, ids: Ids) -> int:
    return len(await people.list(Mapping.BOARD_HAS_PINS, ids["board"]))


async def _created(people: People, ids: Ids) -> bool:
    done = await _pin_count(people, ids) == 6
    assert await _in_feed(people.stores, ids["other"]) == 7 + done
    return done


async def _deleted(people: People, ids: Ids) -> bool:
    return await _pin_count(people, ids) == 4


async def _liked(people: People, ids: Ids) -> bool:
    return ids["foreign"] in await people.list(Mapping.USER_LIKES_PINS, ids["viewer"])


async def _followed(people: People, ids: Ids) -> bool:
    done = ids["other"] in await people.list(Mapping.USER_FOLLOWS_USERS, ids["viewer"])
    assert await _in_feed(people.stores, ids["viewer"]) == done
    return done


async def _signed_up(people: People, ids: Ids) -> bool:
    name = f"newcomer{ids['number']}"
    return bool(await people.stores.shards.mod.find("username", [name]))


async def _signed_up_by_subject(people: People, ids: Ids) -> bool:
    """Check that the subject has one whole user, or neither a claim nor a user."""
    found = await people.stores.shards.objects.list(Kind.USER, 0, 10_000)
    subject, name = subject_of(ids), f"newcomer{ids['number']}"
    users = [decode(Kind.USER, id, data) for id, data in found]
    owners = [it.id for it in users if isinstance(it, User) and it.subject == subject and it.active]
    mod = people.stores.shards.mod
    assert [*(await mod.find("subject", [subject])).values()] == owners
    assert [*(await mod.find("username", [name])).values()] == owners
    assert len(owners) <= 1
    return bool(owners)


async def _changed(people: People, ids: Ids, kind: KeyKind, key: str) -> bool:
    """Check that the viewer has the key, or that nobody has."""
    user = (await access.read(people.stores, User, [ids["viewer"]]))[ids["viewer"]]
    held = await people.stores.shards.mod.find(kind.namespace, [key])
    done = kind.key_of(user) == key
    assert (held, kind.kept_of(user)) == ({key: user.id} if done else {}, ())
    return done


async def _linked(people: People, ids: Ids) -> bool:
    return await _changed(people, ids, SUBJECT, subject_of(ids))


async def _addressed(people: People, ids: Ids) -> bool:
    return await _changed(people, ids, EMAIL, email_of(ids))


async def _renamed(people: People, ids: Ids) -> bool:
    """Check that the viewer has one name, which nobody else may take, and no other name is kept."""
    stores, name = people.stores, f"renamed{ids['number']}"
    user = (await access.read(stores, User, [ids["viewer"]]))[ids["viewer"]]
    done = user.username == name
    held = await stores.shards.mod.find("username", [name, user.username])
    assert (held, user.kept_names) == ({user.username: user.id}, ())
    return done


async def _secret(people: People, ids: Ids) -> bool:
    public = await people.list(Mapping.USER_HAS_PUBLIC_PINS, ids["viewer"])
    assert len(public) in (1, 6)
    return ids["board"] not in await people.list(Mapping.USER_HAS_PUBLIC_BOARDS, ids["viewer"])


async def _board_deleted(people: People, ids: Ids) -> bool:
    gone = ids["board"] not in await people.list(Mapping.USER_HAS_BOARDS, ids["viewer"])
    assert await _pin_count(people, ids) == (0 if gone else 5)
    return gone


async def _reordered(people: People, ids: Ids) -> bool:
    return (await people.list(Mapping.BOARD_HAS_PINS, ids["board"]))[0] == ids["pin"]


async def _moved(people: People, ids: Ids, to: str) -> bool:
    """Check that the pin is on one board, and in public lists if that board is public."""
    on = [await people.list(Mapping.BOARD_HAS_PINS, ids[name]) for name in ("board", to)]
    assert [ids["pin"] in pins for pins in on] in ([True, False], [False, True])
    done = ids["pin"] in on[1]
    shown = await people.list(Mapping.INTEREST_HAS_PINS, ids["interest"])
    assert (ids["pin"] in shown) == (to != "secret" or not done)
    # The other user follows the viewer and the second board: a cell for each.
    assert await _in_feed(people.stores, ids["other"]) == 7 + (done and to == "second")
    return done


async def _moved_to_second(people: People, ids: Ids) -> bool:
    return await _moved(people, ids, "second")


async def _moved_to_secret(people: People, ids: Ids) -> bool:
    return await _moved(people, ids, "secret")


async def _sorted(people: People, ids: Ids) -> bool:
    pins = [ids[f"pin{number}"] for number in range(5)]
    found = await people.list(Mapping.BOARD_HAS_PINS, ids["board"])
    assert found in (pins[::-1], [pins[n] for n in (1, 3, 0, 4, 2)])
    return found != pins[::-1]


HAPPENED: dict[str, Callable[[People, Ids], Awaitable[bool]]] = {
    "createPin": _created,
    "deletePin": _deleted,
    "likePin": _liked,
    "follow": _followed,
    "signUp": _signed_up,
    "signUp of a subject": _signed_up_by_subject,
    "linkSubject": _linked,
    "changeEmail": _addressed,
    "changeUserName": _renamed,
    "updateBoard": _secret,
    "updateBoard and its jobs": _secret,
    "deleteBoard": _board_deleted,
    "deleteBoard and its jobs": _board_deleted,
    "reorderPin": _reordered,
    "movePin": _moved_to_second,
    "movePin to a secret board": _moved_to_secret,
    "reorderPins": _sorted,
}


@pytest.mark.parametrize("name", HAPPENED)
async def test_a_write_killed_at_a_seam_happens_whole_or_not_at_all(
    stores: Stores, writer: Writer, name: str
) -> None:
    seen: list[bool] = []
    for seam in range(0, 1000, scaled(12, 1)):  # `make test-all` takes each
        # The write of another process can't drop entries from this process' own cache.
        stores = stores._replace(object_cache=MemoryObjectCache(1 << 20))
        people = People(stores)
        ids = await _scene(people, seam)
        await drain(stores)
        await _warm(stores, ids)
        ended = writer.write(name, ids, seam)
        assert ended in ("killed", "finished")
        await _recover(stores)
        seen.append(await HAPPENED[name](people, ids))
        assert await audit(stores) == [], f"killed at seam {seam}"

        # Sent again with the same key, it is done once.
        await WRITES[name](stores, ids)
        await drain(stores)
        assert await HAPPENED[name](people, ids)
        assert await audit(stores) == [], f"sent again after seam {seam}"
        if ended == "finished":
            break
    assert seen == sorted(seen), "killed before the commit nothing happens, after it everything"
    assert (seen[0], seen[-1]) == (False, True)
