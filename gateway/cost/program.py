"""A cost as a small program over an operation's variables, evaluated in one pass.

A line is a sum or a maximum of earlier lines, so parts that several places share (a fragment) are
computed once. Parts without variables are folded when the program is made: most documents are
constant.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

Variables = Mapping[str, Any]
Factor = Callable[[Variables], float]
"""How many times a part counts, for the variables as they were sent."""


KNOWN = 64
"""Results that are remembered, by their factors: clients use few page sizes."""


class Amount(NamedTuple):
    """An amount. `rows`: entries read and objects made. `calls`: calls of stores. `toll`: a cost
    that is no work."""

    rows: float
    calls: float
    toll: float = 0.0


NOTHING = Amount(0.0, 0.0)
Part = Amount | int
"""A constant, or the number of a line."""


class _Line(NamedTuple):
    """A constant, and the terms that are added to it: a part, how many times its rows count (the
    number itself, or the factor with this number), and whether its calls count."""

    constant: Amount
    terms: Sequence[tuple[Part, float, int | None]]
    most_of: Sequence[Part]


class Program:
    """The lines, and the factors in them."""

    def __init__(self) -> None:
        self._lines: list[_Line] = []
        self._factors: list[Factor] = []
        self._numbers: dict[object, int] = {}
        self._known: dict[tuple[float, ...], Amount] = {}

    def factor(self, key: object, factor: Factor) -> int:
        """The number of a factor. The same `key` always gives the same factor."""
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._factors)
            self._factors.append(factor)
        return number

    def most(self, parts: Sequence[Part]) -> Part:
        """The maximum of the parts, separately for rows, calls and tolls."""
        if len(parts) <= 1:
            return parts[0] if parts else NOTHING
        dynamic = list(dict.fromkeys(part for part in parts if isinstance(part, int)))
        constant = [part for part in parts if not isinstance(part, int)]
        known = Amount(
            max((part.rows for part in constant), default=0.0),
            max((part.calls for part in constant), default=0.0),
            max((part.toll for part in constant), default=0.0),
        )
        if not dynamic:
            return known
        if len(dynamic) == 1 and known == NOTHING:
            return dynamic[0]
        return self._add(_Line(NOTHING, (), [known, *dynamic]))

    def evaluate(self, part: Part, variables: Variables) -> Amount:
        """The value of the last part of this program."""
        if not isinstance(part, int):
            return part
        factors = tuple([factor(variables) for factor in self._factors])
        known = self._known.get(factors)
        if known is None:
            if len(self._known) >= KNOWN:
                self._known.clear()
            known = self._known[factors] = self._evaluate(factors)[part]
        return known

    def _evaluate(self, factors: tuple[float, ...]) -> list[Amount]:
        found: list[Amount] = []
        for line in self._lines:
            rows, calls, toll = line.constant
            for term, times, number in line.terms:
                amount = found[term] if isinstance(term, int) else term
                often = times if number is None else times * factors[number]
                if often:
                    rows += often * amount.rows
                    calls += amount.calls
                    toll += often * amount.toll
            if line.most_of:
                amounts = [found[p] if isinstance(p, int) else p for p in line.most_of]
                rows += max(amount.rows for amount in amounts)
                calls += max(amount.calls for amount in amounts)
                toll += max(amount.toll for amount in amounts)
            found.append(Amount(rows, calls, toll))
        return found

    def _add(self, line: _Line) -> int:
        self._lines.append(line)
        return len(self._lines) - 1


class Sum:
    """Gathers the terms of a sum."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._rows = self._calls = self._toll = 0.0
        self._terms: list[tuple[Part, float, int | None]] = []

    def add(self, part: Part, times: float = 1.0, factor: int | None = None) -> None:
        """Add a part `times` times, multiplied by the factor. Its calls count once, because a field
        calls the stores for all its parents together."""
        if isinstance(part, int) or factor is not None:
            if part != NOTHING and times:
                self._terms.append((part, times, factor))
        elif times:
            self._rows += times * part.rows
            self._calls += part.calls
            self._toll += times * part.toll

    def part(self) -> Part:
        constant = Amount(self._rows, self._calls, self._toll)
        if not self._terms:
            return constant
        term, times, factor = self._terms[0]
        if len(self._terms) == 1 and constant == NOTHING and times == 1.0 and factor is None:
            return term
        return self._program._add(_Line(constant, self._terms, ()))
