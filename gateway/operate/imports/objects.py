"""Loads boards, pins and comments, each on the shard of its parent.

Boards and pins get the same rows as from `feed_engine.writes`, so that jobs and later mutations see
no difference: their versions include a board's `flips`.
"""

from collections.abc import Iterator

import msgspec

from datasources import records
from datasources.errors import StoreConflict
from datasources.ids import Kind, shard_of
from datasources.mappings import SEQUENCE_STEP, Edge, EdgeKey, ListKey, Mapping
from datasources.protocols import ShardTx
from datasources.records import Board, Comment, Pin
from feed_engine.transactions.edit import edited
from feed_engine.writes.comment_index import by_author
from gateway.operate.imports import checks
from gateway.operate.imports.jsonl import BoardLine, CommentLine, PinLine, decode_again
from gateway.operate.imports.line_records import board_of, comment_of, pin_of
from gateway.operate.imports.load import (
    Edges,
    Load,
    Row,
    batches_by,
    concurrently,
    patiently,
)

_DELETED = "has been deleted here"
_PUBLIC = "is public here, and secret in the file"


async def load_boards(load: Load) -> bool:
    """Load boards on their owners' shards. Returns False if some are left out: boards that were
    deleted here since an earlier import, and boards that are secret in the file and public here.
    """
    done, total = 0, load.spool.count("boards")
    waiting = (
        "SELECT b.n, b.line, b.key, u.id AS owner, b.data FROM boards b "
        "JOIN users u ON u.key = b.owner ORDER BY owner, b.n"
    )
    left_out: list[tuple[Row, str, str]] = []
    for shard, batch in by_shard(load, waiting):
        given = [_board(row) for row in batch]
        ids, _ = await load.insert(shard, Kind.BOARD, given, [row[3] for row in batch])
        stored = await _boards(load, ids)
        edges: Edges = []
        for row, line, id in zip(batch, given, ids, strict=True):
            board = stored[id]
            if not board.active:
                left_out.append((row, line.name, _DELETED))
                continue
            if line.secret and not board.secret:
                left_out.append((row, line.name, _PUBLIC))
                continue
            edge = Edge(board.owner_id, id, board.created * SEQUENCE_STEP, 1 + board.flips)
            edges.append((Mapping.USER_HAS_BOARDS, edge))
            if not board.secret:
                edges.append((Mapping.USER_HAS_PUBLIC_BOARDS, edge))
        await load.rows(edges)
        note(load, "boards", batch, ids)
        done += len(batch)
        load.step("boards", done, total, "boards")
    for (n, number, key, *_), name, why in left_out:
        advice = ": make it secret here, and import again" if why is _PUBLIC else ""
        load.complaints.add(number, f"board {name!r} {why}{advice}")
        load.spool.db.execute("DELETE FROM boards WHERE n = ?", (n,))
        pins = "SELECT n, line, ? FROM pins WHERE board = ?"
        message = f"it is on board {{0!r}}, which {why}"
        checks.reject(load.spool, load.complaints, "pins", pins, message, (name, key))
        for table in ("sections", "collaborators"):
            parts = f"SELECT n, line, ? FROM {table} WHERE board = ?"
            checks.reject(load.spool, load.complaints, table, parts, message, (name, key))
    load.report.loaded["board"] = load.spool.count("boards")
    return not left_out


async def load_pins(load: Load) -> None:
    """Load pins on their boards' shards, a pin's source before the pin. A kept spool has the ids of
    the pins that are loaded completely."""
    total = load.spool.count("pins")
    done = total - load.spool.count("pins WHERE id IS NULL")
    interests = dict(load.spool.rows("SELECT key, id FROM interests"))
    waves: int = load.spool.db.execute("SELECT max(wave) FROM pins").fetchone()[0] or 0
    waiting = (
        "SELECT p.n, p.line, p.key, b.id AS board, p.data, u.id, s.id, p.sequence FROM pins p "
        "JOIN boards b ON b.key = p.board JOIN users u ON u.key = coalesce(p.owner, b.owner) "
        "LEFT JOIN pins s ON s.key = p.source "
        "WHERE p.wave = {} AND p.id IS NULL ORDER BY board, p.n"
    )

    async def load_some(shard: int, batch: list[Row]) -> None:
        nonlocal done
        roots = await _roots_of_repins(load, {row[6] for row in batch if row[6] is not None})
        pins = [_pin(row, interests, roots.get(row[6])) for row in batch]
        ids, all_new = await load.insert(shard, Kind.PIN, pins, [row[3] for row in batch])
        if not all_new:  # an earlier import may have stored pins without their rows
            pins = await _as_stored(load, pins, ids)
        places = [
            Edge(pin.board_id, id, int(row[7]), 1)
            for pin, id, row in zip(pins, ids, batch, strict=True)
        ]
        await place(load, shard, Mapping.BOARD_HAS_PINS, places)
        await _list_pins(load, pins, ids)
        note(load, "pins", batch, ids)
        done += len(batch)
        load.step("pins", done, total, "pins")

    for wave in range(waves + 1):
        await concurrently(by_shard(load, waiting.format(wave)), load_some)
    load.report.loaded["pin"] = total


async def load_comments(load: Load) -> None:
    """Load comments on their pins' shards."""
    total = load.spool.count("comments")
    done = total - load.spool.count("comments WHERE id IS NULL")
    waiting = (
        "SELECT c.n, c.line, c.key, p.id AS pin, c.data, u.id FROM comments c "
        "JOIN pins p ON p.key = c.pin JOIN users u ON u.key = c.author "
        "WHERE c.id IS NULL ORDER BY pin, c.n"
    )
    for shard, batch in by_shard(load, waiting):
        comments = [_comment(row) for row in batch]
        ids, _ = await load.insert(shard, Kind.COMMENT, comments, [row[3] for row in batch])
        edges: Edges = []
        for comment, id in zip(comments, ids, strict=True):
            edge = Edge(comment.pin_id, id, comment.created * SEQUENCE_STEP, 1)
            edges.append((Mapping.PIN_HAS_COMMENTS, edge))
            edges.append((Mapping.USER_WROTE_COMMENTS, by_author(comment, edge)))
        await load.rows(edges)
        note(load, "comments", batch, ids)
        done += len(batch)
        load.step("comments", done, total, "comments")
    load.report.loaded["comment"] = total


async def set_covers(load: Load) -> None:
    """Set the covers of boards that have none yet. It runs last, because pins need boards first."""
    waiting = (
        "SELECT b.n, b.line, b.key, b.id AS board, p.id FROM boards b "
        "JOIN pins p ON p.key = b.cover ORDER BY board"
    )
    for shard, batch in by_shard(load, waiting):
        covers = {row[3]: row[4] for row in batch}

        async def work(tx: ShardTx, covers: dict[int, int] = covers) -> None:
            for board_id, pin_id in covers.items():
                data = await tx.get(board_id)
                if data is not None and not _has_cover(board_id, data):
                    await tx.update(board_id, edited(data, {"cover_pin_id": pin_id}, Board))

        await load.transact(shard, work)
        await load.forget_objects(list(covers))


async def place(load: Load, shard: int, mapping: Mapping, places: list[Edge]) -> None:
    """Write the rows of pins or sections on their boards. If another entry has the place (it was
    moved there, or came from another file), the entry gets the nearest free place above."""
    edges: Edges = [(mapping, edge) for edge in places]
    try:
        await load.rows(edges)
        return
    except StoreConflict:
        pass

    async def work(tx: ShardTx) -> None:
        for edge in places:
            if await tx.edge(EdgeKey(mapping, edge.from_id, edge.to_id)) is None:
                await put_above(tx, mapping, edge)

    await load.transact(shard, work)
    await load.forget_lists(edges)


async def put_above(tx: ShardTx, mapping: Mapping, edge: Edge) -> None:
    """Write a new row of an ordered list at its place, or at the nearest free place above."""
    key, free = ListKey(mapping, edge.from_id), edge.sequence
    while (row := await tx.above(key, free - 1)) and row.sequence == free:
        free += 1
    await tx.put_edge(mapping, edge._replace(sequence=free))


async def _as_stored(load: Load, pins: list[Pin], ids: list[int]) -> list[Pin]:
    """The pins as this import gives them, with the dates and the owners that they have in the
    stores: a pin without a date in the file has the file's, and the file may have been touched or
    edited."""
    stored = await patiently(lambda: load.stores.shards.objects.get(ids))
    known = records.decode_each(Kind.PIN, stored)
    return [
        msgspec.structs.replace(pin, created=found.created, owner_id=found.owner_id)
        if isinstance(found := known.get(id), Pin)
        else pin
        for pin, id in zip(pins, ids, strict=True)
    ]


async def _roots_of_repins(load: Load, sources: set[int]) -> dict[int, int | None]:
    """The `root_id` of repins of these pins. The pins are stored: each is in an earlier wave."""
    if not sources:
        return {}
    stored = await patiently(lambda: load.stores.shards.objects.get(list(sources)))
    found = records.decode_each(Kind.PIN, stored)
    return {id: pin.root_of_repins for id, pin in found.items() if isinstance(pin, Pin)}


async def _list_pins(load: Load, pins: list[Pin], ids: list[int]) -> None:
    """Write the rows that depend on the pins' places. The boards are read after the places are
    written. If somebody makes a board secret or deletes it later, that write finds the pins on it
    and writes newer rows. The same holds for a pin that was deleted, or moved to another board,
    since an earlier import."""
    boards = await _boards(load, list({pin.board_id for pin in pins}))
    keys = [
        EdgeKey(Mapping.BOARD_HAS_PINS, pin.board_id, id) for pin, id in zip(pins, ids, strict=True)
    ]
    places = await patiently(lambda: load.stores.shards.mappings.edges(keys))
    edges: Edges = []
    for pin, key in zip(pins, keys, strict=True):
        board, place, id = boards[pin.board_id], places[key], key.to_id
        if not place.active:
            continue
        version = place.version + board.flips
        edge = Edge(pin.owner_id, id, pin.created * SEQUENCE_STEP, version, board.active)
        edges.append((Mapping.USER_HAS_PINS, edge))
        if board.active and not board.secret:
            edges.append((Mapping.USER_HAS_PUBLIC_PINS, edge))
            edges += [
                (Mapping.INTEREST_HAS_PINS, edge._replace(from_id=interest))
                for interest in pin.interest_ids
            ]
    await load.rows(edges)


async def _boards(load: Load, ids: list[int]) -> dict[int, Board]:
    """The boards as they are in the stores now, not from the file or a cache."""
    found: dict[int, Board] = {}
    stored = await patiently(lambda: load.stores.shards.objects.get(ids))
    for id, data in stored.items():
        board = records.decode(Kind.BOARD, id, data)
        assert isinstance(board, Board)
        found[id] = board
    return found


def _has_cover(board_id: int, data: bytes) -> bool:
    board = records.decode(Kind.BOARD, board_id, data)
    return isinstance(board, Board) and board.cover_pin_id is not None


def by_shard(load: Load, sql: str) -> Iterator[tuple[int, list[Row]]]:
    """Batches of rows by shard. The fourth column is an id, by which the rows are sorted."""
    return batches_by(load.spool.rows(sql), lambda row: shard_of(row[3]), load.options.batch)


def note(load: Load, table: str, batch: list[Row], ids: list[int]) -> None:
    rows = [(id, row[0]) for id, row in zip(ids, batch, strict=True)]
    load.spool.many(f"UPDATE {table} SET id = ? WHERE n = ?", rows)


def _board(row: Row) -> Board:
    line = decode_again(row[4])
    assert isinstance(line, BoardLine)
    return board_of(line, row[3])


def _pin(row: Row, interests: dict[str, int], root_id: int | None) -> Pin:
    line = decode_again(row[4])
    assert isinstance(line, PinLine)
    return pin_of(
        line, interests, board_id=row[3], owner_id=row[5], source_id=row[6], root_id=root_id
    )


def _comment(row: Row) -> Comment:
    line = decode_again(row[4])
    assert isinstance(line, CommentLine)
    return comment_of(line, pin_id=row[3], author_id=row[5])
