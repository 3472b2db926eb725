"""Places an entry in an ordered list, such as a pin on a board, between two other entries or on
top, by writing one row.

The nearest rows bound the gap. Deleted rows count: their sequences are taken.
"""

from typing import NamedTuple

from datasources.errors import BadInput, Conflict
from datasources.mappings import Edge, EdgeKey, ListKey, Mapping
from datasources.protocols import ShardTx
from feed_engine.ordering import order
from feed_engine.ordering.respace import Step, make_room, next_row
from feed_engine.ordering.spacing import Spacing
from feed_engine.outbox.change import AnyTask, Respace


class Noun(NamedTuple):
    """The words of errors for the entries of an ordered list: "pin" and "on board"."""

    entry: str
    place: str

    @property
    def moved(self) -> str:
        """The argument with the moved entry's id."""
        return f"{self.entry}Id"

    @property
    def before(self) -> str:
        """The argument with the id of the entry above."""
        return f"before{self.entry.capitalize()}Id"

    @property
    def after(self) -> str:
        """The argument with the id of the entry below."""
        return f"after{self.entry.capitalize()}Id"

    def named(self, id: int) -> str:
        return f"{self.entry.capitalize()} {id}"


NOUNS = {
    Mapping.BOARD_HAS_PINS: Noun("pin", "on board"),
    Mapping.SECTION_HAS_PINS: Noun("pin", "in section"),
    Mapping.BOARD_HAS_SECTIONS: Noun("section", "on board"),
}


class Anchors(NamedTuple):
    """The rows that a client names: the row directly above the drop, and the row directly below
    it."""

    noun: Noun
    before: Edge | None
    after: Edge | None

    @property
    def crossed(self) -> tuple[Edge, Edge] | None:
        """The two anchors, if they are in the opposite order now."""
        _, before, after = self
        return (before, after) if before and after and before.sequence < after.sequence else None

    def check_order(self) -> None:
        """Raises Conflict if the anchors are in the opposite order now."""
        if self.crossed:
            before, after = self.crossed
            raise Conflict(
                f"{self.noun.named(before.to_id)} stands below {self.noun.entry} {after.to_id} "
                "now, and nothing was moved. Load the board again",
                self.noun.before,
            )


class Gap(NamedTuple):
    """The place for an entry: the active rows above and below, None at an end of the list."""

    above: Edge | None
    below: Edge | None


class Placed(NamedTuple):
    """A free sequence, and the respacing that the gap needs if it became narrow."""

    sequence: int
    tasks: list[AnyTask]


def check_distinct(
    mapping: Mapping, moved_id: int, before_id: int | None, after_id: int | None
) -> None:
    """Raises BadInput for anchors that are invalid in any list of the mapping."""
    noun = NOUNS[mapping]
    for field, id in ((noun.before, before_id), (noun.after, after_id)):
        if moved_id == id:
            raise BadInput(f"{field} is the moved {noun.entry} itself: give another", field)
    if before_id is not None and before_id == after_id:
        raise BadInput(
            f"{noun.before} and {noun.after} are the same {noun.entry}: give one of them",
            noun.after,
        )


async def row_in(tx: ShardTx, key: ListKey, id: int, field: str) -> Edge:
    """The row of an entry that is in the list. Raises BadInput."""
    row = await tx.edge(EdgeKey(key.mapping, key.from_id, id))
    if row is None or not row.active:
        noun = NOUNS[key.mapping]
        raise BadInput(f"{noun.named(id)} is not {noun.place} {key.from_id}", field)
    return row


async def anchors(
    tx: ShardTx, key: ListKey, before_id: int | None, after_id: int | None
) -> Anchors:
    """The anchors' rows. Locks the list. Raises BadInput."""
    noun, before, after = NOUNS[key.mapping], None, None
    if before_id is not None:
        before = await row_in(tx, key, before_id, noun.before)
    if after_id is not None:
        after = await row_in(tx, key, after_id, noun.after)
    return Anchors(noun, before, after)


async def gap_at(tx: ShardTx, key: ListKey, named: Anchors) -> Gap:
    """The gap directly below `before`; without it, directly above `after`; without either, on
    top."""
    if named.before is not None:
        return Gap(named.before, await next_active(tx.below, key, named.before))
    if named.after is not None:
        return Gap(await next_active(tx.above, key, named.after), named.after)
    top = await tx.top(key)
    while top is not None and not top.active:
        top = await tx.below(key, top.sequence)
    return Gap(None, top)


async def neighbors(tx: ShardTx, key: ListKey, row: Edge) -> tuple[int | None, int | None]:
    """The ids of the entries directly above and below a row of the list."""
    above = await next_active(tx.above, key, row)
    below = await next_active(tx.below, key, row)
    return above and above.to_id, below and below.to_id


async def next_active(step: Step, key: ListKey, row: Edge) -> Edge | None:
    found = await step(key, row.sequence)
    while found is not None and not found.active:
        found = await step(key, found.sequence)
    return found


async def place(
    tx: ShardTx, key: ListKey, moved: Edge, gap: Gap, now: int, spacing: Spacing
) -> Placed:
    """A free sequence in a gap for the row `moved`. If the gap has none, a few other rows are
    respaced. Raises Crowded, from `squeeze_in`."""
    lower, upper = await _bounds(tx, key, moved, gap)
    sequence = _between(lower, upper, now)
    if sequence is None:
        return await squeeze_in(tx, key, moved, lower, upper, spacing)
    asks = upper is not None and spacing.asks(
        lower.sequence if lower else 0, sequence, upper.sequence
    )
    return Placed(sequence, [await _respace(tx, key, sequence)] if asks else [])


async def squeeze_in(
    tx: ShardTx,
    key: ListKey,
    moved: Edge,
    lower: Edge | None,
    upper: Edge | None,
    spacing: Spacing,
) -> Placed:
    """A place between two rows that have hardly any room: other rows are respaced. Raises Crowded
    when that takes more rows than a transaction may rewrite (see `with_room`)."""
    sequence = await make_room(tx, key, moved, lower, upper, spacing)
    return Placed(sequence, [await _respace(tx, key, sequence)])


async def _respace(tx: ShardTx, key: ListKey, sequence: int) -> Respace:
    return Respace(
        from_id=key.from_id,
        around=str(sequence),
        era=await tx.era(key),
        mapping=key.mapping.code,
    )


async def _bounds(
    tx: ShardTx, key: ListKey, moved: Edge, gap: Gap
) -> tuple[Edge | None, Edge | None]:
    """The nearest rows below and above, without the moved entry's own row (of an earlier stay)."""
    if gap.above is not None:
        return await next_row(tx.below, key, gap.above, moved.to_id), gap.above
    top = await tx.top(key)
    if top is not None and top.to_id == moved.to_id:
        top = await tx.below(key, top.sequence)
    return top, None


def _between(lower: Edge | None, upper: Edge | None, now: int) -> int | None:
    if upper is None:
        return order.top(now, lower.sequence if lower else None)
    if lower is None:
        return order.bottom(upper.sequence)
    return order.bisect(lower.sequence, upper.sequence)
