"""The pool of related pins: what walks from likes and saves bring, and what takes their place."""

from pathlib import Path

import pytest

from datasources.ids import Kind, compose
from datasources.records import Pin, User
from feed_engine import writes
from feed_engine.feeds.rows import Reason, parse_pool
from feed_engine.feeds.settings import FeedSettings
from feed_engine.outbox.change import PinLiked
from feed_engine.related import pool as pools
from feed_engine.related.found import Related
from feed_engine.related.pool import cells_of, fill, pin_liked
from tests.feeds import START, Feeding, pins_of
from tests.stores.feed_engine.related.worlds import drain_with, pool, repin, walking

pytestmark = pytest.mark.anyio


async def tastes(feeding: Feeding, users: int = 3) -> tuple[list[Pin], list[Pin]]:
    """Two themes: `users` users save each theme's five pins to boards of their own."""
    themes: list[list[Pin]] = []
    for _ in range(2):
        first = await feeding.user()
        pins = await feeding.pins(await feeding.board(first), 5)
        themes.append(pins)
        for _ in range(users):
            user = await feeding.user()
            board = await feeding.board(user)
            for pin in pins:
                await repin(feeding, user, pin, board)
    await feeding.drain()
    return themes[0], themes[1]


async def test_a_like_brings_the_pins_of_its_theme_and_names_the_liked_pin(
    feeding: Feeding, tmp_path: Path
) -> None:
    ours, theirs = await tastes(feeding)
    viewer = await feeding.user()
    async with walking(feeding.stores, tmp_path) as walks:
        await writes.like_pin(feeding.stores, viewer.id, ours[0].id)
        await drain_with(feeding.stores, walks)
        found = await pool(feeding, viewer)
        assert {pin for pin, _ in found} == {pin.id for pin in ours[1:]}
        assert {cause for _, cause in found} == {ours[0].id}
        await writes.like_pin(feeding.stores, viewer.id, theirs[0].id)
        await drain_with(feeding.stores, walks)
        causes = dict(await pool(feeding, viewer))
        expected = {pin.id: ours[0].id for pin in ours[1:]}
        assert causes == expected | {pin.id: theirs[0].id for pin in theirs[1:]}


async def test_a_save_walks_too_and_what_the_viewer_has_is_left_out(
    feeding: Feeding, tmp_path: Path
) -> None:
    ours, _ = await tastes(feeding)
    viewer = await feeding.user()
    board = await feeding.board(viewer)
    async with walking(feeding.stores, tmp_path) as walks:
        copies = [await repin(feeding, viewer, pin, board) for pin in ours[:2]]
        await drain_with(feeding.stores, walks)
        found = await pool(feeding, viewer)
        assert {pin for pin, _ in found} == {pin.id for pin in ours[2:]}
        assert {cause for _, cause in found} <= {pin.id for pin in (*ours[:2], *copies)}


async def test_pictures_that_a_visit_showed_do_not_come_again(
    feeding: Feeding, tmp_path: Path
) -> None:
    ours, _ = await tastes(feeding)
    viewer = await feeding.user()
    async with walking(feeding.stores, tmp_path) as walks:
        await writes.like_pin(feeding.stores, viewer.id, ours[0].id)
        await drain_with(feeding.stores, walks)
        feeding.settings = FeedSettings(chunk=2, generator_seconds=60)
        shown = pins_of(await feeding.home(viewer, first=2))
        await drain_with(feeding.stores, walks)
        left = {pin.id for pin in ours[1:]}.difference(shown)
        assert len(left) == 2
        found = await fill(feeding.stores, walks, viewer.id, at=feeding.now, first=[ours[0]])
        assert found == 2
        assert {pin for pin, _ in await pool(feeding, viewer)} == left


async def test_secret_and_deleted_pins_never_come_though_the_graph_still_has_them(
    feeding: Feeding, tmp_path: Path
) -> None:
    ours, _ = await tastes(feeding, users=0)
    viewer = await feeding.user()
    stores = feeding.stores
    async with walking(stores, tmp_path) as walks:
        await walks.run(lambda graph: None)  # the log is read
        walks._every = 3600.0  # and not read again
        owner = ours[0].owner_id
        await writes.delete_pin(stores, owner, ours[1].id)
        hidden = await feeding.board(User(id=owner, username=""), secret=True)
        await writes.move_pin(stores, owner, ours[2].id, hidden.id)
        await fill(stores, walks, viewer.id, at=feeding.now, first=[ours[0]])
        assert {pin for pin, _ in await pool(feeding, viewer)} == {ours[3].id, ours[4].id}
        change = writes.BoardChange(secret=True)
        await writes.update_board(stores, owner, ours[0].board_id, change)
        other = await feeding.user()
        assert await fill(stores, walks, other.id, at=feeding.now, first=[ours[0]]) == 0
        assert await pool(feeding, other) == []


async def test_a_repin_stands_for_a_root_that_is_not_public(
    feeding: Feeding, tmp_path: Path
) -> None:
    owner, other, viewer = [await feeding.user() for _ in range(3)]
    liked, root = await feeding.pins(await feeding.board(owner), 2)
    board = await feeding.board(other)
    await repin(feeding, other, liked, board)
    again = await repin(feeding, other, root, board)
    await writes.delete_pin(feeding.stores, owner.id, root.id)
    await feeding.drain()
    async with walking(feeding.stores, tmp_path) as walks:
        await fill(feeding.stores, walks, viewer.id, at=feeding.now, first=[liked])
        assert [pin for pin, _ in await pool(feeding, viewer)] == [again.id]


async def test_no_board_gives_more_than_four_of_any_25_neighbors(
    feeding: Feeding, tmp_path: Path
) -> None:
    owner, viewer = await feeding.user(), await feeding.user()
    shared = await feeding.board(await feeding.user())
    liked = await feeding.pin_at(await feeding.board(owner), START)
    await repin(feeding, User(id=shared.owner_id, username=""), liked, shared)
    sources = [await feeding.board(owner) for _ in range(2)]
    for source in sources:
        for pin in await feeding.pins(source, 12):
            await repin(feeding, User(id=shared.owner_id, username=""), pin, shared)
    await feeding.drain()
    async with walking(feeding.stores, tmp_path) as walks:
        assert await fill(feeding.stores, walks, viewer.id, at=feeding.now, first=[liked]) == 8
    found = [pin for pin, _ in await pool(feeding, viewer)]
    boards = [pin.board_id for pin in (await feeding.visible(viewer)(found)).values()]
    assert sorted(boards) == sorted([source.id for source in sources] * 4)


async def test_a_pin_has_one_cell_however_often_the_viewer_likes(
    feeding: Feeding, tmp_path: Path
) -> None:
    ours, _ = await tastes(feeding)
    viewer = await feeding.user()
    async with walking(feeding.stores, tmp_path) as walks:
        for number, pin in enumerate(ours[:3]):
            await writes.like_pin(feeding.stores, viewer.id, pin.id, at=feeding.now + number)
            await drain_with(feeding.stores, walks)
        found = [pin for pin, _ in await pool(feeding, viewer)]
        assert sorted(found) == sorted(pin.id for pin in ours[3:]), "no pin that was liked since"
        task = PinLiked(viewer.id, ours[2].id, feeding.now + 2)
        for _ in range(2):
            await pin_liked(feeding.stores, task, None, _nowhere, walks=walks)
        again = [pin for pin, _ in await pool(feeding, viewer)]
        assert sorted(again) == sorted(found)


async def test_without_a_graph_a_like_brings_the_newest_pins_beside_it(
    feeding: Feeding, tmp_path: Path
) -> None:
    viewer = await feeding.user()
    liked, *beside = await feeding.pins(await feeding.board(await feeding.user()), 4)
    task = PinLiked(viewer.id, liked.id, feeding.now)
    expected = [(pin.id, liked.id) for pin in reversed(beside)]
    async with walking(feeding.stores, tmp_path, built=False) as walks:
        await pin_liked(feeding.stores, task, None, _nowhere, walks=walks)
        assert await pool(feeding, viewer) == expected
        walks.path.parent.mkdir()
        walks.path.write_bytes(b"not a snapshot")
        other = await feeding.user()
        later = PinLiked(other.id, liked.id, feeding.now)
        await pin_liked(feeding.stores, later, None, _nowhere, walks=walks)
        assert await pool(feeding, other) == expected


async def test_walks_that_find_little_are_completed_with_the_pins_beside(
    feeding: Feeding, tmp_path: Path
) -> None:
    viewer = await feeding.user()
    liked, *beside = await feeding.pins(await feeding.board(await feeding.user()), 9)
    await feeding.drain()
    async with walking(feeding.stores, tmp_path) as walks:
        task = PinLiked(viewer.id, liked.id, feeding.now)
        await pin_liked(feeding.stores, task, None, _nowhere, walks=walks)
        found = [pin for pin, _ in await pool(feeding, viewer)]
        assert set(found) == {pin.id for pin in beside}


async def test_the_pool_keeps_its_best_of_the_walks(feeding: Feeding, tmp_path: Path) -> None:
    ours, _ = await tastes(feeding)
    viewer = await feeding.user()
    async with walking(feeding.stores, tmp_path) as walks:
        await fill(feeding.stores, walks, viewer.id, at=feeding.now, first=[ours[0]])
        whole = await pool(feeding, viewer)
        settings = FeedSettings(pool_cap=2)
        await fill(
            feeding.stores, walks, viewer.id, at=feeding.now, first=[ours[0]], settings=settings
        )
        assert await pool(feeding, viewer) == whole[:2]


async def test_a_home_feed_shows_related_pins_with_the_liked_pin_as_their_cause(
    feeding: Feeding, tmp_path: Path
) -> None:
    ours, _ = await tastes(feeding)
    viewer = await feeding.user()
    async with walking(feeding.stores, tmp_path) as walks:
        await writes.like_pin(feeding.stores, viewer.id, ours[0].id)
        await drain_with(feeding.stores, walks)
        page = await feeding.home(viewer, first=5)
        related = [item for item in page.items if item.reason is Reason.RELATED]
        assert {item.pin.id for item in related} >= {pin.id for pin in ours[1:4]}
        for item in related:
            assert [(c.followed_id, c.pin.id) for c in item.causes] == [(ours[0].id, item.pin.id)]
        assert pins_of(page)[0] == related[0].pin.id


def test_scores_fall_with_the_share_of_the_best_and_keep_the_order() -> None:
    def pin(number: int) -> Pin:
        return Pin(id=compose(0, Kind.PIN, number), board_id=1, owner_id=2)

    found = [Related(pin(1), 1.0, 0), Related(pin(2), 0.25, 1), Related(pin(3), 0.5, 0)]
    found.append(Related(pin(4), 1e-9, 0))
    columns = [parse_pool(column) for column in cells_of(found, [7, 8], START)]
    scores = [column.score for column in columns]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 4
    assert [column.pin_id for column in columns] == [it.pin.id for it in found]
    assert scores[0] - scores[1] == pytest.approx(2, abs=1e-3)
    assert scores[0] - scores[3] == pytest.approx(-pools.LEAST, abs=1e-3)


async def _nowhere(cursor: bytes) -> None: ...
