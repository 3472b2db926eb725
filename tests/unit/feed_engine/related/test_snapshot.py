"""The snapshot file: it is replaced in one step, and a bad file is never used."""

from pathlib import Path

import pytest

from datasources.errors import StoreCorrupt
from feed_engine.related import snapshot
from feed_engine.related.arrays import Saves
from tests.unit.feed_engine.related.graphs import board, edges_of, graph, pin, saved

EDGES = [(0, 0), (1, 0), (1, 1), (2, 1), (2, 2)]


def _written(folder: Path) -> Path:
    path = folder / "graph"
    saves = saved(EDGES)
    snapshot.write(path, saves.arrange(), built=5, pins=len(saves))
    return path


def test_a_snapshot_has_the_edges_of_all_saves(tmp_path: Path) -> None:
    found = graph(tmp_path, saved(EDGES))
    assert edges_of(found) == {(pin(root), board(on)) for root, on in EDGES}
    assert (found.header.roots, found.header.boards, found.header.edges) == (3, 3, 5)


def test_repins_share_a_root_and_a_board_counts_once(tmp_path: Path) -> None:
    saves = Saves()
    saves.add(pin(0), pin(0), board(0), created=1)
    saves.add(pin(5), pin(0), board(1), created=2)
    saves.add(pin(6), pin(0), board(1), created=3)
    saves.add(pin(7), pin(0), board(2), created=9)
    found = graph(tmp_path, saves)
    assert edges_of(found) == {(pin(0), board(n)) for n in range(3)}
    assert found.header.pins == 4
    assert found.pins_of(0) == [pin(0), pin(7), pin(6)], "the root first, then the newest"


def test_a_graph_without_pins_has_a_snapshot(tmp_path: Path) -> None:
    assert edges_of(graph(tmp_path, Saves())) == set()


def test_a_process_keeps_the_snapshot_that_it_opened_while_the_file_is_replaced(
    tmp_path: Path,
) -> None:
    before = graph(tmp_path, saved(EDGES))
    after = graph(tmp_path, saved([(7, 7)]))
    assert edges_of(before) == {(pin(root), board(on)) for root, on in EDGES}
    assert edges_of(after) == {(pin(7), board(7))}


def test_changes_stay_in_the_process_that_made_them(tmp_path: Path) -> None:
    path = _written(tmp_path)
    ours = graph(tmp_path, saved(EDGES))
    ours.hide(board(1))
    ours.save(pin(9), pin(9), board(0))
    assert len(edges_of(ours)) == 4
    snapshot.opened(path)  # its checksums are right


def test_a_write_that_fails_leaves_the_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _written(tmp_path)
    monkeypatch.setattr(snapshot, "LEAST_ROOM", 1 << 31)
    with pytest.raises(ValueError, match="too many"):
        snapshot.write(path, saved([(7, 7)]).arrange(), built=6, pins=1)
    monkeypatch.undo()

    def full(fd: int) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("datasources.files.os.fsync", full)
    with pytest.raises(OSError, match="full"):
        snapshot.write(path, saved([(7, 7)]).arrange(), built=6, pins=1)
    assert snapshot.opened(path).header.built == 5
    assert [file.name for file in tmp_path.iterdir()] == ["graph"]


@pytest.mark.parametrize("place", ["head", "header", "array", "version", "short", "empty", "other"])
def test_a_file_that_is_not_a_whole_snapshot_of_this_version_is_refused(
    tmp_path: Path, place: str
) -> None:
    path = _written(tmp_path)
    raw = bytearray(path.read_bytes())
    section = snapshot.read_header(path).sections["board_roots"]
    match place:
        case "head":
            raw[14] ^= 1
        case "header":
            raw[40] ^= 1
        case "array":
            raw[section.offset + 3] ^= 1
        case "version":
            raw[8] += 1
        case "short":
            raw = raw[:-1]
        case "empty":
            raw = bytearray()
        case "other":
            raw = bytearray(b"something else, and long enough for a head")
    path.write_bytes(raw)
    with pytest.raises(StoreCorrupt):
        snapshot.opened(path)


def test_a_missing_snapshot_is_no_damage(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        snapshot.opened(tmp_path / "graph")


def test_the_room_behind_the_arrays_takes_no_space_on_the_disk(tmp_path: Path) -> None:
    stat = _written(tmp_path).stat()
    assert stat.st_size > 10 * 2**20
    assert stat.st_blocks * 512 < 2**20
