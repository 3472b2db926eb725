"""A try at making a subtree for some objects, as if everything in it were as usual.

If something isn't (an error, a null where none may be, a coroutine, an odd class of value), the
objects are made once more, group by group with their places. What resolvers gave, or are about to
give, is not asked of them again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from gateway.execution.dropped import drop

if TYPE_CHECKING:
    from gateway.execution.collect import Field
    from gateway.execution.goals import Goal
    from gateway.execution.places import Place
    from gateway.execution.run import Run
    from gateway.execution.subtrees import Bulked, Part, Spot, Subtree
    from gateway.execution.waiting import WaitingCalls

Given: TypeAlias = "dict[Field, Sequence[Any] | Goal | WaitingCalls]"
"""What the resolvers of fields gave, or what it goes to when it is there."""


class Attempt:
    """One try, for the objects of one group."""

    __slots__ = (
        *("_count", "_objs", "_over"),
        *("columns", "given", "nulls", "place", "run", "subtree", "waits"),
    )

    def __init__(self, run: Run, subtree: Subtree, objs: Sequence[Any], place: Place) -> None:
        self.run, self.subtree, self._objs, self.place = run, subtree, objs, place
        self.columns: list[Any] = [None] * subtree.size
        """The objects of each spot, and the values of each field that is made from a column."""
        self.nulls: set[Spot] = set()
        """The spots of which some objects are null."""
        self.given: Given = {}
        self.waits = 0
        """Fields whose values aren't there yet."""
        self._count = 0
        """Objects found."""
        self._over = False

    def begin(self) -> None:
        self.subtree.tried += 1
        try:
            self.ask(self.subtree.root, self._objs)
            if not self.waits:
                self._finish()
        except Exception:
            self._give_up()

    def ask(self, spot: Spot, objs: Sequence[Any]) -> None:
        """Get what is to be shown of these. Raises whatever where it isn't as usual."""
        self.columns[spot.number] = objs
        self._count += len(objs)
        for ask in spot.asks:
            ask(self, objs)

    def arrived(self, part: Part | Bulked, values: Sequence[Any]) -> None:
        """What a field waited for."""
        if self._over:
            drop(values)
            return
        self.given[part.field] = values
        self.waits -= 1
        try:
            take = part.take  # an attribute, which Python looks up faster than it calls it
            take(self, values)
            if not self.waits:
                self._finish()
        except Exception:
            self._give_up()

    def made(self, spot: Spot) -> list[dict[str, Any]]:
        """What stands in the response for a spot's objects. Raises whatever."""
        return (spot.rows(frozenset(self.nulls)) if self.nulls else spot.usual)(self)

    def wanted(self) -> bool:
        """Whether one of the objects is still part of the response."""
        return any(self.run.alive(self.place, i) for i in range(len(self._objs)))

    def _finish(self) -> None:
        form = self.subtree.form
        made: Sequence[Any]
        made = self.made(self.subtree.root) if form is None else form.write(self.columns)
        self._over = True
        self.place.put_all(made)
        below = self._count - len(made)
        self.run.made += below
        self.run.unrested += below

    def give_up(self) -> None:
        """Have the objects made once more, by groups."""
        if not self._over:
            self._give_up()

    def _give_up(self) -> None:
        self.subtree.failed += 1
        self._over = True
        self.run.make_again(self.subtree.root.selection, self._objs, self.place, self.given)
