"""The parts of a response that come after its initial part, as JSON: the results of deferred
fragments (@defer) and the later items of lists (@stream), in the format of the incremental delivery
proposal of 2022-08-24."""

from asyncio import timeout_at
from collections.abc import Callable, Sequence
from typing import Any

from graphql import GraphQLError

from datasources.staleness import Collecting
from feed_engine.speculation.deadline import ends
from gateway.cost.refusals import too_large
from gateway.execution.client_errors import shown_with
from gateway.execution.compile.plan import Rest
from gateway.execution.encode import dumps
from gateway.execution.levels.deferral import DATA, Part
from gateway.execution.levels.failures import left_out
from gateway.execution.staleness import told_stale
from resolvers.context import Context

Hide = Callable[[list[GraphQLError]], None]
"""Removes the schema's names from errors."""


class LaterParts:
    """The further parts of one response. `end` must be called once."""

    def __init__(
        self,
        rest: Rest,
        context: Context,
        *,
        ends_at: float,
        late: GraphQLError,
        size: int,
        max_bytes: int,
        hide: Hide,
    ) -> None:
        """`ends_at` is the deadline of the whole operation, by the event loop's clock, and `late`
        its error. `size` are the bytes of the initial part, and `max_bytes` is the maximum for all
        parts together (0: none). `hide` removes the schema's names from errors."""
        self._rest, self._context, self._ends, self._late = rest, context, ends_at, late
        self.size, self._max_bytes, self._hide = size, max_bytes, hide
        self._left_out, self._faulty = 0, context.fault is not None
        self._at_end: list[Callable[[], None]] = []
        self.codes: list[str] = []
        """The codes of all errors so far."""

    @property
    def has_next(self) -> bool:
        return self._rest.has_next

    def at_end(self, do: Callable[[], None]) -> None:
        """Call a function after the last part, or when the client has gone."""
        self._at_end.append(do)

    async def next(self) -> list[bytes]:
        """Returns the next parts as one JSON object, in several pieces if it is large. All parts
        that are ready come together."""
        with Collecting() as stale:
            parts = await self._executed()
            extensions = b',"extensions":' + told_stale(stale) if stale and parts else b""
        text = [b'{"incremental":[']
        for number, part in enumerate(parts):
            text.append(b"," if number else b"")
            text += await self._entry(part)
            text.append((b"" if number else extensions) + b"}")
        text.append(b'],"hasNext":%b}' % (b"true" if self.has_next else b"false"))
        return text

    async def _executed(self) -> list[Part]:
        token = ends.set(self._ends)
        try:
            async with timeout_at(self._ends):
                parts = await self._rest.next()
        except TimeoutError:
            return self._rest.unfinished(self._late)
        except Exception as raised:  # a bug in the executor
            error = GraphQLError("The operation could not be run.", original_error=raised)
            return self._rest.unfinished(error)
        finally:
            ends.reset(token)
        self.size += sum(len(text) for part in parts for text in part.data or ())
        if 0 < self._max_bytes < self.size:
            return self._refused(parts, too_large(self._max_bytes))
        fault = self._context.fault
        if fault is not None and parts and not self._faulty:
            self._faulty = True
            parts[0].errors.append(GraphQLError(str(fault), original_error=fault))
        return parts

    def _refused(self, parts: Sequence[Part], error: GraphQLError) -> list[Part]:
        refused = [Part(part.path, part.label, None, [error], part.key) for part in parts]
        return refused + self._rest.unfinished(error)

    async def _entry(self, part: Part) -> list[bytes]:
        """Returns a part as JSON without its closing brace."""
        if part.data is None:
            text = [b'{"%b":null' % part.key.encode()]
        elif part.key == DATA:
            text = [b'{"data":', *part.data]
        else:
            text = [*part.data]
            text[-1] = text[-1][:-1]  # the object's closing brace
        text += [b',"path":', dumps(part.path)]
        if part.label is not None:
            text += [b',"label":', dumps(part.label)]
        errors = part.errors
        if not errors:
            return text
        self._hide(errors)
        dropped: list[Exception] = self._rest.failures.left_out[self._left_out :]
        if dropped:
            self._left_out += len(dropped)
            errors = [*errors, left_out(len(dropped))]
        formatted: list[dict[str, Any]] = await shown_with(errors, dropped)
        self.codes += [str(error["extensions"]["code"]) for error in formatted]
        return [*text, b',"errors":', dumps(formatted, repr)]

    async def end(self) -> None:
        """End the response. Fields that are still executed are cancelled."""
        at_end, self._at_end = self._at_end, []
        try:
            await self._rest.close()
        finally:
            for do in at_end:
                do()
