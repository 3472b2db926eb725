"""The demo's content: sound, the same each time, and filled in once."""

from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from datasources import files, records
from datasources.files import rename
from datasources.ids import Kind
from datasources.mappings import ListKey, Mapping
from datasources.protocols import Stores
from datasources.records import Board, Pin, User
from feed_engine.feeds.rows import FOLLOWING, POOLS, POPULAR_ROWS, Reason, id_row
from feed_engine.feeds.settings import FeedSettings
from feed_engine.writes.comment_index import not_indexed
from gateway.demo.archive import FOLDERS, unpack_demo
from gateway.demo.art.pieces import pieces
from gateway.demo.content import demo_lines
from gateway.demo.emoji import emoji
from gateway.demo.fill import demo_is_loaded, demo_viewer_id, fill_demo
from gateway.demo.people import CURATORS, PEOPLE, VIEWER
from gateway.demo.photos import photos
from gateway.operate.imports.jsonl import (
    AnyLine,
    BoardLine,
    CommentLine,
    FollowLine,
    InterestLine,
    LikeLine,
    PinLine,
    UserLine,
    canonical,
    decode,
)
from gateway.operate.imports.report import Progress
from gateway.settings import Settings
from gateway.site.installation import install
from gateway.site.runtime import running
from tests.audit import audit
from tests.feeds import Feeding
from tests.importing.files import give
from tests.importing.worlds import canonical_set

pytestmark = pytest.mark.anyio


@cache
def lines() -> tuple[AnyLine, ...]:
    """The demo's content, generated once for all tests."""
    return tuple(demo_lines())


def test_every_picture_is_a_pin_once_and_some_are_repinned() -> None:
    pins = [line for line in lines() if isinstance(line, PinLine)]
    originals = [pin.image.url for pin in pins if pin.image and pin.source is None]
    assert len(originals) == len(set(originals))
    assert {pin.image.url for pin in pins if pin.image} == set(originals)
    kinds = Counter(url.split("/")[2] for url in originals)
    assert kinds["art"] == len(pieces())
    assert kinds["emoji"] == len(emoji())
    assert kinds["photos"] == len(photos())
    assert 1500 < kinds["brands"] < 2000
    assert 500 < len(pins) - len(originals) < 1500


def test_the_content_is_the_same_each_time_and_every_line_is_good() -> None:
    texts = [canonical(line) for line in lines()]
    assert texts == [canonical(line) for line in demo_lines()]
    assert [canonical(decode(text)) for text in texts] == texts


def test_there_is_enough_of_everything() -> None:
    found = Counter(type(line) for line in lines())
    assert found[UserLine] == PEOPLE == 300
    assert 8 <= found[InterestLine] <= 16
    assert 140 <= found[BoardLine] <= 170
    assert found[LikeLine] > 5000
    assert found[CommentLine] == 600
    boards = [line for line in lines() if isinstance(line, BoardLine)]
    assert len({line.owner for line in boards}) > CURATORS


def test_few_have_many_followers_and_many_have_few() -> None:
    followers = Counter(line.user for line in lines() if isinstance(line, FollowLine) and line.user)
    degrees = sorted(followers.values(), reverse=True)
    middle = degrees[len(degrees) // 2]
    assert degrees[0] > 15 * middle
    assert sum(degrees[:30]) > 0.3 * sum(degrees)


def test_nobody_does_anything_before_they_came_nor_to_what_was_not_there() -> None:
    since = {}
    for line in lines():
        if isinstance(line, UserLine | BoardLine | PinLine | InterestLine):
            since[type(line), line.key] = line.created
    for line in lines():
        assert line.created is not None
        match line:
            case PinLine():
                assert line.created >= since[BoardLine, line.board]
                assert line.source is None or line.created > since[PinLine, line.source]
            case BoardLine():
                assert line.created >= since[UserLine, line.owner]
            case LikeLine():
                assert line.created >= since[PinLine, line.pin]
            case CommentLine():
                assert line.created >= since[PinLine, line.pin]
            case FollowLine():
                assert line.created >= since[UserLine, line.follower]


@pytest.mark.nightly
async def test_empty_stores_are_filled_and_filled_again_for_nothing(
    stores: Stores, tmp_path: Path
) -> None:
    told: list[Progress] = []
    assert not await demo_is_loaded(stores)
    await fill_demo(stores, tmp_path, told.append)
    assert await demo_is_loaded(stores)
    assert {step.stage for step in told} >= {"reading", "pins", "feeds"}
    content = {canonical(line) for line in lines()}
    assert canonical_set(await give(stores)) == content
    await fill_demo(stores, tmp_path, told.append)
    assert canonical_set(await give(stores)) == content
    assert await audit(stores) == []
    await the_viewer_has_plenty_to_look_at(stores)


async def test_a_first_start_unpacks_the_same_content(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data")
    await install(settings, lambda progress: None, prepare=unpack_demo)
    async with running(settings, jobs=False) as runtime:
        stores = runtime.stores
        assert await demo_is_loaded(stores)
        assert canonical_set(await give(stores)) == {canonical(line) for line in lines()}
        assert await audit(stores) == []
        assert await not_indexed(stores.shards) == []
        await the_viewer_has_plenty_to_look_at(stores)


async def test_content_of_an_earlier_start_is_kept(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data")
    await install(settings, lambda progress: None)
    await install(settings, lambda progress: None, prepare=unpack_demo)
    async with running(settings, jobs=False) as runtime:
        assert not await demo_is_loaded(runtime.stores)


@pytest.mark.parametrize("done", FOLDERS)
def test_an_unpacking_that_was_killed_is_begun_again(
    done: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(path: Path, target: Path) -> None:
        if path.name == done:
            raise KeyboardInterrupt
        rename(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(files, "rename", killed)
        with pytest.raises(KeyboardInterrupt):
            unpack_demo(tmp_path)
    assert not (tmp_path / "shards").exists(), "their mark says that all content is there"
    unpack_demo(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} <= {*FOLDERS}


async def the_viewer_has_plenty_to_look_at(stores: Stores) -> None:
    viewer = await demo_viewer_id(stores)
    assert viewer is not None
    assert await stores.shards.mod.find("username", [VIEWER]) == {VIEWER: viewer}
    follows = (
        Mapping.USER_FOLLOWS_USERS,
        Mapping.USER_FOLLOWS_BOARDS,
        Mapping.USER_FOLLOWS_INTERESTS,
    )
    heads = await stores.shards.mappings.heads([ListKey(mapping, viewer) for mapping in follows])
    assert heads[ListKey(Mapping.USER_FOLLOWS_USERS, viewer)].size == 12
    assert all(head.size >= 4 for head in heads.values())
    boards: list[Board] = []
    for id, data in await stores.shards.objects.list(Kind.BOARD, 0, 1000):
        board = records.decode(Kind.BOARD, id, data)
        assert isinstance(board, Board)
        if board.owner_id == viewer:
            boards.append(board)
    assert [board.secret for board in sorted(boards, key=lambda b: b.secret)] == [
        False,
        False,
        True,
    ]
    secret = boards[[board.secret for board in boards].index(True)]
    pins = [
        records.decode(Kind.PIN, id, data)
        for id, data in await stores.shards.objects.list(Kind.PIN, 0, 10_000)
    ]
    assert sum(isinstance(pin, Pin) and pin.board_id == secret.id for pin in pins) == 9
    for side in stores.feeds:
        row = id_row(viewer)
        assert len(await side.read(FOLLOWING, row, limit=1000)) > 200
    for side in stores.pools:
        assert sum([len(await side.read(POOLS, row, limit=1000)) for row in POPULAR_ROWS]) > 500
    feeding, me = Feeding(stores), User(id=viewer, username=VIEWER)
    feeding.settings = FeedSettings()
    page = await feeding.home(me, first=25)
    reasons = Counter(item.reason for item in page.items)
    assert reasons[Reason.FOLLOWED_INTEREST] >= 5, reasons
    assert reasons[Reason.FOLLOWED_USER] + reasons[Reason.FOLLOWED_BOARD] >= 5, reasons
