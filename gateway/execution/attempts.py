"""A try at making a subtree for some objects, as if everything in it were as usual.

If something isn't (an error, a null where none may be, a coroutine, an odd class of value), the
objects are made once more, group by group with their places. What resolvers gave, or are about to
give, is not asked of them again.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any, TypeAlias

from gateway.execution.dropped import drop

if TYPE_CHECKING:
    from gateway.execution.collect import Field, Selection
    from gateway.execution.forms import FormOf
    from gateway.execution.goals import Goal
    from gateway.execution.places import Place
    from gateway.execution.run import Run
    from gateway.execution.subtrees import Rows, Subtree
    from gateway.execution.waiting import WaitingCalls
    from gateway.execution.written import Form

Given: TypeAlias = "dict[Field, Sequence[Any] | Goal | WaitingCalls]"
"""What the resolvers of fields gave, or what it goes to when it is there."""


class Spot:
    """The objects of one type at one place of a subtree."""

    __slots__ = ("asked", "form", "leafy", "leaves", "number", "rows", "selection", "shown")

    def __init__(self, selection: Selection, number: int) -> None:
        self.selection, self.number = selection, number
        self.asked: list[Asked] = []
        """The fields that aren't read where the response is made, in its order."""
        self.shown: dict[Field, Shown] = {}
        """What is shown of those."""
        self.leafy = False
        """Whether leaves are read from its objects."""
        self.form: Form | None = None
        """What writes its objects, where that is compiled code."""
        self.leaves: Rows | None = None
        """What makes the leaves that are read from its objects alone, without compiled code."""
        self.rows: dict[frozenset[Spot], Rows] = {}
        """What makes the response of its objects, where those of some spots are made apart."""


class Shown:
    """What is shown of a field's values, of all objects of a spot."""

    __slots__ = ("of_lists",)

    of_lists: bool
    """Whether each value is a list."""

    def take(self, attempt: Attempt, values: Sequence[Any]) -> None:
        """The values are there. Raises whatever where they aren't as usual."""
        raise NotImplementedError

    def column(self, attempt: Attempt) -> Sequence[Any]:
        """What stands in the response for each."""
        raise NotImplementedError

    def add_to(self, form: Form, form_of: FormOf) -> None:
        """Have it written."""
        raise NotImplementedError


class Asked:
    """A field whose values are got apart from the others of its objects."""

    __slots__ = ("field", "shown")

    def __init__(self, field: Field, shown: Shown) -> None:
        self.field, self.shown = field, shown

    def ask(self, attempt: Attempt, objs: Sequence[Any]) -> None:
        """Take the values of these objects, now or when they are there."""
        raise NotImplementedError


class Attempt:
    """One try, for the objects of one group."""

    __slots__ = (
        *("_ambient", "_count", "_found", "_objs", "_over"),
        *("columns", "given", "nulls", "place", "run", "subtree", "waits"),
    )

    def __init__(self, run: Run, subtree: Subtree, objs: Sequence[Any], place: Place) -> None:
        self.run, self.subtree, self._objs, self.place = run, subtree, objs, place
        self.columns: list[Any] = [None] * subtree.size
        """The objects of each spot, or what was written of them ahead, and the values of each field
        that is made from a column."""
        self.nulls: set[Spot] = set()
        """The spots of which some objects are null."""
        self.given: Given = {}
        self.waits = 0
        """Fields whose values aren't there yet."""
        self._count = 0
        """Objects found."""
        self._found: list[Spot] = []
        """The spots of those that weren't looked at."""
        self._ambient = self.run.ambient
        self._over = False

    def begin(self) -> None:
        self.subtree.tried += 1
        try:
            self.ask(self.subtree.root, self._objs)
            self._go_on()
        except Exception:
            self._give_up()

    def ask(self, spot: Spot, objs: Sequence[Any]) -> None:
        """Get what is to be shown of these. Raises whatever where it isn't as usual."""
        self.columns[spot.number] = objs
        if spot.leafy:
            self._found.append(spot)
        self._count += len(objs)
        if spot.form is not None and spot.asked:
            spot.form.foresee(objs)
        for asked in spot.asked:
            asked.ask(self, objs)

    def take(self, asked: Asked, values: Sequence[Any]) -> None:
        """Take a field's values. Lists are copied: their owner may change them while others are
        waited for, and they are read again if the attempt is given up."""
        if asked.shown.of_lists:
            values = [value[:] if type(value) is list else value for value in values]
        self.given[asked.field] = values
        asked.shown.take(self, values)

    def arrived(self, asked: Asked, values: Sequence[Any]) -> None:
        """What a field waited for."""
        if self._over:
            drop(values)
            return
        self.waits -= 1
        try:
            self.take(asked, values)
            self._go_on()
        except Exception:
            self._give_up()

    def made(self, spot: Spot) -> list[dict[str, Any]]:
        """What stands in the response for a spot's objects. Raises whatever."""
        return self.subtree.rows(spot, frozenset(self.nulls))(self)

    def is_usual(self, asked: Asked, values: Sequence[Any]) -> bool:
        """Whether some of a field's values, with nothing to be got below them, are as usual."""
        below = Attempt(self.run, self.subtree, (), self.place)
        try:
            asked.shown.take(below, values)
            for spot in below._found:
                below._look_at(spot)
        except Exception:
            return False
        return True

    def wanted(self) -> bool:
        """Whether one of the objects is still part of the response."""
        return any(map(self.run.alive, repeat(self.place), range(len(self._objs))))

    def divide(self) -> None:
        """Where some of the objects, and not all, are no part of the response any more, it is given
        up, so that what they wait for can end."""
        alive = list(map(self.run.alive, repeat(self.place), range(len(self._objs))))
        if any(alive) and not all(alive):
            self.run.within(self._ambient, self.give_up)

    def _go_on(self) -> None:
        if not self.waits:
            self._finish()
        elif self._found:
            self._look()

    def _look(self) -> None:
        """Before others are waited for: what is odd already may null what they are for, or have
        something more to be awaited."""
        found, self._found = self._found, []
        count = 0
        for spot in found:
            count += len(self.columns[spot.number])
            self._look_at(spot)
        self.run.unrested += count

    def _look_at(self, spot: Spot) -> None:
        """Raises whatever where a leaf that is read from a spot's objects isn't as usual. Compiled
        code writes them already."""
        if spot.form is None:
            self.subtree.leaves(spot)(self)
        else:
            self.columns[spot.number] = spot.form.ahead(self.columns[spot.number])

    def _finish(self) -> None:
        made = self.subtree.write(self)
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
        self._over = True
        self.subtree.give_up()
        self.run.make_again(self.subtree.root.selection, self._objs, self.place, self.given)
