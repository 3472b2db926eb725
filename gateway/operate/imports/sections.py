"""Loads the sections of boards, and puts imported pins into them, on the shards of their boards."""

from datasources.ids import Kind, shard_of
from datasources.mappings import Edge, EdgeKey, Mapping
from datasources.protocols import ShardTx
from datasources.records import Board, Pin, Section
from feed_engine.transactions.access import lock_any
from feed_engine.transactions.edit import edit
from gateway.operate.imports.jsonl import SectionLine, decode_again
from gateway.operate.imports.line_records import section_of
from gateway.operate.imports.load import Edges, Load, Row, batches_by
from gateway.operate.imports.objects import by_shard, note, place, put_above

_PINS = 500  # pins in a transaction


async def load_sections(load: Load) -> None:
    """Load sections on their boards. A section that was deleted here stays deleted."""
    done, total = 0, load.spool.count("sections")
    waiting = (
        "SELECT s.n, s.line, s.key, b.id AS board, s.data, s.sequence FROM sections s "
        "JOIN boards b ON b.key = s.board ORDER BY board, s.n"
    )
    for shard, batch in by_shard(load, waiting):
        made = [_section(row) for row in batch]
        ids, _ = await load.insert(shard, Kind.SECTION, made, [row[3] for row in batch])
        places = [Edge(row[3], id, int(row[5]), 1) for row, id in zip(batch, ids, strict=True)]
        await place(load, shard, Mapping.BOARD_HAS_SECTIONS, places)
        note(load, "sections", batch, ids)
        done += len(batch)
        load.step("sections", done, total, "sections")
    if total:
        load.report.loaded["section"] = total


async def fill_sections(load: Load) -> None:
    """Put the pins into their sections. A pin that was in the section once stays where it is now,
    and so do a pin that is in another section and a pin that has left the board."""
    done, total = 0, load.spool.count("pin_sections")
    waiting = (
        "SELECT s.n, p.id, t.id, b.id AS board, s.sequence FROM pin_sections s "
        "JOIN pins p ON p.n = s.pin JOIN boards b ON b.key = p.board "
        "JOIN sections t ON t.key = s.section ORDER BY board, t.id, s.n"
    )
    # The batches are of one board each: a transaction locks the board of its pins.
    for board_id, batch in batches_by(load.spool.rows(waiting), lambda row: row[3], _PINS):
        edges = [Edge(row[2], row[1], int(row[4]), 1) for row in batch]

        async def work(tx: ShardTx, board_id: int = board_id, edges: list[Edge] = edges) -> None:
            board = await lock_any(tx, Board, board_id)
            if board is not None and board[0].active:
                for edge in edges:
                    await _put(tx, board[0], edge)

        await load.transact(shard_of(board_id), work)
        changed: Edges = [(Mapping.SECTION_HAS_PINS, edge) for edge in edges]
        await load.forget_lists(changed)
        await load.forget_objects([edge.to_id for edge in edges])
        done += len(batch)
        load.step("pins in sections", done, total, "pins")


async def _put(tx: ShardTx, board: Board, edge: Edge) -> None:
    """Put a pin into a section, unless people have decided otherwise since an earlier import."""
    section = await lock_any(tx, Section, edge.from_id)
    pin = await lock_any(tx, Pin, edge.to_id)
    if section is None or not section[0].active or pin is None or not pin[0].active:
        return
    stays = pin[0].section_id is not None or pin[0].board_id != board.id
    if stays or await tx.edge(EdgeKey(Mapping.SECTION_HAS_PINS, edge.from_id, edge.to_id)):
        return
    await put_above(tx, Mapping.SECTION_HAS_PINS, edge)
    await edit(tx, *pin, {"section_id": edge.from_id, "flips": board.flips})


def _section(row: Row) -> Section:
    line = decode_again(row[4])
    assert isinstance(line, SectionLine)
    return section_of(line, row[3])
