"""Deliberate faults in the engine. The generated cases must catch each of them.

Each fault replaces a text that occurs exactly once in a file of `gateway/execution/`. After a
change of that text, adapt the fault.
"""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Fault:
    name: str
    file: str
    old: str
    new: str
    compiled: bool = False
    """Whether only compiled code runs the faulty text."""
    cut: bool = False
    """Whether only cancellations show it: each case is cancelled while it runs."""
    caught_by: tuple[str, int] | None = None
    """A seed and the number of its world that catches the fault, if it takes thousands of other
    cases. Only a shortcut: the usual seeds follow."""

    def apply(self, package: Path) -> None:
        """Put the fault into a copy of the package. Raises ValueError if the text does not occur
        exactly once."""
        path = package / self.file
        text = path.read_text()
        if text.count(self.old) != 1:
            raise ValueError(
                f"{self.file} has {text.count(self.old)} times {self.old!r}, for the fault"
                f" {self.name!r}: once was expected"
            )
        path.write_text(text.replace(self.old, self.new))


FAULTS = (
    Fault("a null does not climb", "run/response.py", "while base.nonnull:", "while False:"),
    Fault(
        "a null climbs one position too far",
        "run/response.py",
        "        mark_dead(base, i)\n        if climbed:",
        "        if climbed and base.above(i)[0] is not None:\n"
        "            above, i = base.above(i)\n            base, i = above.base(i)\n"
        "        mark_dead(base, i)\n        if climbed:",
    ),
    Fault(
        "an error has the place of the first of merged fields alone",
        "model/selection.py",
        "return at_nodes(self.nodes)",
        "return at_nodes(self.nodes[:1])",
    ),
    Fault(
        "a mutation goes on after its response became null",
        "run/execution.py",
        "                if self.data is None:\n                    break\n",
        "",
    ),
    Fault(
        "a cancelled request leaves its resolvers to themselves",
        "run/waiting.py",
        "self._discard([task for task in tasks if not task.done_])",
        "self._discard([])",
    ),
    Fault(
        "a null cancels at once what is awaited below it",
        "run/waiting.py",
        "                self._unwanted.add(task)\n                task.sink.count_down()\n",
        "                self._unwanted.add(task)\n                task.sink.count_down()\n"
        "                task.cancel()\n",
    ),
    Fault(
        "an index in a path is one too high",
        "model/positions.py",
        "return at, at, None",
        "return at + 1, at, None",
    ),
    Fault(
        "values that arrive in another order are mixed up",
        "tasks/pending_column.py",
        "if self._total > 1 and indexes != list(range(self._total)):",
        "if False:",
    ),
    Fault(
        "the selections of merged fields are not merged",
        "run/composites.py",
        "self.field.compiler.select(type_, self.field.details)",
        "self.field.compiler.select(type_, self.field.details[:1])",
    ),
    Fault(
        "a scalar may give nothing",
        "run/leaves.py",
        "        if coerced is None or coerced is Undefined:\n            raise TypeError(",
        "        if False:\n            raise TypeError(",
    ),
    Fault(
        "an object may be of another type than it is said to be",
        "run/composites.py",
        "            elif answer:\n",
        "            elif True:\n",
    ),
    Fault(
        "an interface may resolve to a type that is none of its own",
        "run/composites.py",
        "if not schema.is_sub_type(type_, found):",
        "if False:",
    ),
    Fault(
        "the default of an argument is forgotten when its variable is absent",
        "run/arguments.py",
        "value = variables.get(variable, fixed)",
        "value = variables.get(variable)",
    ),
    Fault(
        "an integer may have any size",
        "run/leaves.py",
        "return bool(min(values) >= LEAST and max(values) <= GREATEST)",
        "return True",
    ),
    Fault(
        "an argument that may not be null may be",
        "run/arguments.py",
        "if nonnull and (value is None or value is Undefined):",
        "if False:",
    ),
    Fault(
        "a plan does not depend on the variables of @skip and @include",
        "model/operation.py",
        "found.add(argument.value.name.value)",
        "pass",
    ),
    Fault(
        "permissions and field extensions are left out",
        "strawberry_details.py",
        "        and not own.extensions\n",
        "",
    ),
    Fault(
        "nulls are passed to resolvers that are called without wrappers",
        "compile/resolvers.py",
        "for name, value in convert(values).items() if value is not None}",
        "for name, value in convert(values).items()}",
    ),
    Fault(
        "a bulk resolver's values go to the wrong objects",
        "run/pending.py",
        "    if type(values) is list and len(values) == count:\n        return values[:]",
        "    if type(values) is list and len(values) == count:\n        return values[::-1]",
    ),
    Fault(
        "the attributes of objects without a fast path are read twice",
        "run/sources.py",
        "                column.append(get(obj))\n",
        "                column.append(get(obj))\n                column[-1] = get(obj)\n",
    ),
    Fault(
        "attributes are read again when an attempt is given up",
        "fused/attempts.py",
        "self.resolved.update(zip(node.leaves, leaves.columns(), strict=True))",
        "pass",
        compiled=True,
    ),
    Fault(
        "a list that a resolver keeps is read when it is needed",
        "run/lists.py",
        "flat: Sequence[Any] = lists[0][:]",
        "flat: Sequence[Any] = lists[0]",
    ),
    Fault(
        "a returned BaseException is an error",
        "run/leaves.py",
        "        try:\n            if isinstance(value, Exception):\n",
        "        try:\n            if isinstance(value, BaseException):\n",
    ),
    Fault(
        "a scalar's awaitable is no value to await",
        "run/leaves.py",
        "                if not is_awaitable(coerced):\n",
        "                if True:\n",
    ),
    Fault(
        "an error without a text ends the request",
        "run/errors.py",
        "    except Exception:  # raised by __str__ or a property of the error\n",
        "    except KeyError:\n",
    ),
    Fault(
        "keys of JSON are written as Python has them",
        "encode.py",
        "(key,) = json.loads(json.dumps({key: None}))",
        "key = str(key)",
    ),
    Fault(
        "a cancellation in the turn in which an awaited future completes is lost",
        "tasks/resolver_task.py",
        "            return True\n        self._must_cancel = True\n",
        "            return True\n",
    ),
    Fault(
        "a cancellation reaches only the first task that waits",
        "run/waiting.py",
        "for task in {*waiting, *self._unwanted} - self._cancelled_tasks:",
        "for task in waiting[:1]:",
    ),
    Fault(
        "the tasks of a cancelled request learn of it one turn later",
        "run/waiting.py",
        "            self.run.cancel_tasks()\n",
        "            pass\n",
    ),
    Fault(
        "a cancellation does not reach the resolvers below nulls",
        "run/waiting.py",
        "for task in {*waiting, *self._unwanted} - self._cancelled_tasks:",
        "for task in {*waiting} - self._cancelled_tasks:",
        cut=True,
    ),
    Fault(
        "a cancellation in a turn in which the run rests waits for the turn's end",
        "run/waiting.py",
        "            await _Turn(self)\n            self._since",
        "            await asyncio.sleep(0)\n            self._since",
        cut=True,
    ),
    Fault(
        "a cancelled request does not wait for its resolvers' cleanup",
        "run/waiting.py",
        "        while self._unwanted:\n            self._waiter = self.loop.create_future()\n",
        "        while False:\n            self._waiter = self.loop.create_future()\n",
    ),
    Fault(
        "compiled code writes null for what is empty",
        "fused/json_writer.pyx",
        "    if value is None and not field.nonnull:\n",
        "    if not value and not field.nonnull:\n",
    ),
    Fault(
        "compiled code writes one object for all",
        "fused/json_writer.pyx",
        "        own.next = row + 1\n",
        "        own.next = row\n",
    ),
    Fault(
        "compiled code steps all in one context",
        "tasks/stepped_in_c.pyx",
        "        if changed(self._context, sink.base):\n            sink.keep_context(self)\n",
        "",
    ),
    Fault(
        "compiled code gives what was awaited to the wrong objects",
        "tasks/stepped_in_c.pyx",
        "        sink.indexes.append(self.index)\n",
        "        sink.indexes.append(len(sink.indexes))\n",
    ),
    Fault(
        "the lists of a subtree get each other's items",
        "fused/parts.py",
        "return [[next(rest) for _ in range(length)] for length in lengths]",
        "return [[next(rest) for _ in range(length)] for length in lengths[::-1]][::-1]",
        compiled=True,
        caught_by=("a", 61),
    ),
    Fault(
        "null is made to stand where none may be, in subtrees",
        "fused/parts.py",
        "            if self._completer.nonnull:\n                raise FastPathMiss\n",
        "",
        compiled=True,
    ),
    Fault(
        "who waited for an attempt that was given up is not told where the values go",
        "run/pending.py",
        "self._positions, self.attempt, self.fetch = positions, None, None",
        "pass",
        compiled=True,
    ),
)
