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
    sliced: bool = False
    """Whether only rests show it: each slice has one value."""
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
    Fault(
        "a null does not climb",
        "levels/failures.py",
        "while column.slot.nonnull:",
        "while False:",
    ),
    Fault(
        "a null climbs one position too far",
        "levels/failures.py",
        "            column = above\n        column.nullify(row)",
        "            column = above\n        if climbed and column.above(row)[0] is not None:\n"
        "            column, row = column.above(row)\n        column.nullify(row)",
    ),
    Fault(
        "an error has the place of the first of merged fields alone",
        "model/selection.py",
        "return at_nodes(self.nodes)",
        "return at_nodes(self.nodes[:1])",
    ),
    Fault(
        "a mutation goes on after its response became null",
        "levels/execution.py",
        "                if failures.root_nulled:\n                    break\n",
        "",
    ),
    Fault(
        "a cancelled request leaves its resolvers to themselves",
        "levels/waits.py",
        "self.discard([task for task in tasks if not task.done_])",
        "self.discard([])",
    ),
    Fault(
        "a null cancels at once what is awaited below it",
        "levels/waits.py",
        "                self.unwanted.add(task)\n                task.sink.count_down()\n",
        "                self.unwanted.add(task)\n                task.sink.count_down()\n"
        "                task.cancel()\n",
    ),
    Fault(
        "an index in a path is one too high",
        "levels/tables.py",
        "return index, index, None",
        "return index + 1, index, None",
    ),
    Fault(
        "an error has the path of another object",
        "levels/tables.py",
        "parents[row - self.starts[group]]",
        "parents[0]",
    ),
    Fault(
        "values that arrive in another order are mixed up",
        "tasks/pending_column.py",
        "if self._total > 1 and indexes != list(range(self._total)):",
        "if False:",
    ),
    Fault(
        "the selections of merged fields are not merged",
        "levels/objects.py",
        "self.field.compiler.select(type_, self.field.details)",
        "self.field.compiler.select(type_, self.field.details[:1])",
    ),
    Fault(
        "a scalar may give nothing",
        "levels/leaves.py",
        "        if coerced is None or coerced is Undefined:\n            raise TypeError(",
        "        if False:\n            raise TypeError(",
    ),
    Fault(
        "an object may be of another type than it is said to be",
        "levels/objects.py",
        "                elif answer:\n",
        "                elif True:\n",
    ),
    Fault(
        "an interface may resolve to a type that is none of its own",
        "levels/objects.py",
        "if not schema.is_sub_type(type_, found):",
        "if False:",
        caught_by=("e", 27),
    ),
    Fault(
        "the default of an argument is forgotten when its variable is absent",
        "levels/arguments.py",
        "value = variables.get(variable, fixed)",
        "value = variables.get(variable)",
    ),
    Fault(
        "an integer may have any size",
        "levels/leaves.py",
        "return bool(min(values) >= LEAST and max(values) <= GREATEST)",
        "return True",
    ),
    Fault(
        "an argument that may not be null may be",
        "levels/arguments.py",
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
        "levels/loads.py",
        "    if type(values) is list and len(values) == count:\n        return values[:]",
        "    if type(values) is list and len(values) == count:\n        return values[::-1]",
    ),
    Fault(
        "attributes are read twice",
        "levels/sources.py",
        "                column.append(get(obj))\n",
        "                column.append(get(obj))\n                column[-1] = get(obj)\n",
    ),
    Fault(
        "compiled code reads attributes twice",
        "levels/json_writer.pyx",
        "                value = leaf_of(leaf, items[row])\n",
        "                leaf_of(leaf, items[row])\n"
        "                value = leaf_of(leaf, items[row])\n",
    ),
    Fault(
        "a returned BaseException is an error",
        "levels/leaves.py",
        "                if isinstance(value, Exception):\n                    run",
        "                if isinstance(value, BaseException):\n                    run",
    ),
    Fault(
        "a scalar's awaitable is no value to await",
        "levels/leaves.py",
        "                    if is_awaitable(coerced):\n",
        "                    if False:\n",
    ),
    Fault(
        "an error without a text ends the request",
        "levels/failures.py",
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
        "levels/waits.py",
        "for task in {*waiting, *self.unwanted} - self.cancelled_tasks:",
        "for task in waiting[:1]:",
    ),
    Fault(
        "the tasks of a cancelled request learn of it one turn later",
        "levels/waits.py",
        "            self.run.waits.cancel_tasks(self.run)\n",
        "            pass\n",
    ),
    Fault(
        "a cancellation does not reach the resolvers below nulls",
        "levels/waits.py",
        "for task in {*waiting, *self.unwanted} - self.cancelled_tasks:",
        "for task in {*waiting} - self.cancelled_tasks:",
        cut=True,
    ),
    Fault(
        "a cancellation in a turn in which the run rests waits for the turn's end",
        "levels/execution.py",
        "            await Turn(self)\n            self._since",
        "            await asyncio.sleep(0)\n            self._since",
        cut=True,
        sliced=True,
    ),
    Fault(
        "a cancelled request does not wait for its resolvers' cleanup",
        "levels/waits.py",
        "        while self.unwanted:\n            self.waiter = run.loop.create_future()\n",
        "        while False:\n            self.waiter = run.loop.create_future()\n",
    ),
    Fault(
        "compiled code writes null for what is empty",
        "levels/json_writer.pyx",
        "        text = utf8_or_null(leaf, &size)\n",
        "        text = utf8_or_null(leaf, &size)\n"
        '        if not size:\n            return put(out, "null", 4)\n',
    ),
    Fault(
        "compiled code writes one object for all",
        "levels/json_writer.pyx",
        "return self.push(table, keys_of(table), value, 0)",
        "return self.push(table, keys_of(table), 0, 0)",
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
        "a list begins with the items of the list before",
        "levels/lists.py",
        "column.values[row] = (start, table.count)",
        "column.values[row] = (first, table.count)",
    ),
    Fault(
        "compiled code takes a null where none may be",
        "levels/json_writer.pyx",
        "return type(value) is str or (value is None and not leaf.nonnull)",
        "return type(value) is str or value is None",
        caught_by=("n1", 64),
    ),
    Fault(
        "unusual values go to the wrong objects",
        "levels/resolution.py",
        "        rows.append(row)\n",
        "        rows.append(row and row - 1)\n",
        compiled=True,
    ),
)
