"""The behavior of a generated world's resolvers: what they return and when.

A value depends on its key alone. The key is a hash of the parent's key, the field, the arguments
and the index in a list. So two executors get the same values, in whatever order they call the
resolvers; nothing else is random.
"""

import asyncio
import contextvars
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum
from typing import Any
from zlib import crc32

import strawberry.dataloader
from aiodataloader import DataLoader
from graphql import GraphQLError, Undefined

from tests.execution.worlds import Field, World

AMBIENT: contextvars.ContextVar[int] = contextvars.ContextVar("ambient", default=0)


def mix(key: int, text: bytes) -> int:
    """Returns a new key, below 2**32, from a key and a text."""
    mixed = crc32(text, key)
    return ((mixed * 2654435761) ^ (mixed >> 15)) & 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Cut:
    """A cancellation of the request in the turn in which futures are finished.

    - `after`: the number of futures that are finished before.
    - `together`: all futures that resolvers await at the time are finished in one turn. A future
      that is finished alone does not count.
    - `between`: the resolvers that await these futures continue before the cancellation, and the
      resolvers that await futures finished later in the same turn continue after it.
    """

    after: int
    together: bool
    between: bool


class Run:
    """One execution: the context value of its resolvers, in which they record what they do.

    - `hang`: some resolvers wait forever. With `gives_up` they raise GaveUp instead, so that the
      work after them runs.
    - `rogue`: some resolvers cancel their own task.
    - `seen`: the classes of features that occurred.
    - `trace`: the starts and ends of mutations, in order.
    - `batches`: the keys of each batch that was loaded.
    - `answered`: the resolvers that returned, by field and key.
    - `cut`: when and how the request is cancelled (`Cut`).
    - `gone_on`: how many resolvers continued after the request was cancelled, in the same turn.
    - `mute`: the `__str__` of some errors raises.
    - `shielded`: resolvers await what they share with others through `asyncio.shield`. graphql-core
      cancels what it awaits beside an awaited error; without a shield, this would cancel the future
      for all.
    """

    def __init__(
        self,
        world: World,
        *,
        hang: bool = False,
        rogue: bool = False,
        trouble: int | None = None,
        cut: Cut | None = None,
        mute: bool = False,
        shielded: bool = False,
    ) -> None:
        self.world = world
        self.hang, self.rogue, self.mute = hang, rogue, mute
        self.shielded = shielded
        self.cut, self.was_cut = cut, False
        self.finished = self.gone_on = 0
        self.gate: list[asyncio.Future[None]] = []
        self.cancel: Callable[[], Any] = lambda: None
        self.shared: dict[str, tuple[list[Any], list[Any]]] = {}  # lists, and copies of them
        self.frozen: list[Any] = []  # objects that several parents have
        self.gives_up = False
        self.trouble = 0 if rogue else world.trouble if trouble is None else trouble
        self.seen: set[str] = set()
        self.trace: list[str] = []
        self.batches: list[list[int]] = []
        self.answered: set[tuple[str, int]] = set()
        self.hung = self.unwound = 0
        self.eager = False  # set while making values that may never be used: no awaitables then
        self.make: Callable[[Run, str, int], Any] = lambda *_: None
        self.sharing = False  # set while making values that several parents have
        self._loader: DataLoader[int, int] | None = None
        self._plain: dict[str, Any] = {}  # loaders whose callers of one key share a future
        self._tasks: dict[int, asyncio.Task[int]] = {}
        self.values: Any = None  # a loader of the values of bulk fields

    async def pause(self, of_request: bool) -> None:
        """Await a future, which is finished in a later turn. `of_request` says whether a
        cancellation of the request must cancel the caller at once."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        if self.cut is None or not self.cut.together:
            loop.call_soon(self._finish, [future])
        else:
            self.gate.append(future)
            if len(self.gate) == 1:
                loop.call_soon(loop.call_soon, self._finish, self.gate)
        await future
        if of_request and self.was_cut:
            self.gone_on += 1

    def _finish(self, futures: "list[asyncio.Future[None]]") -> None:
        """Finish futures that resolvers await."""
        self.gate = []
        for future in futures:
            if not future.done():
                future.set_result(None)
            if self.cut is None or (self.cut.together and len(futures) == 1):
                continue
            self.finished += 1
            if self.finished == self.cut.after:
                if self.cut.together:
                    self.seen.add("several cut off together")
                if self.cut.between:
                    asyncio.get_running_loop().call_soon(self._cut_off)
                else:
                    self._cut_off()

    def _cut_off(self) -> None:
        self.was_cut = bool(self.cancel())

    def reverse(self) -> None:
        """Change the lists that resolvers returned and still hold."""
        for shared, _ in self.shared.values():
            shared[:] = [*reversed(shared[:3]), *shared[:1]]

    @property
    def loader(self) -> "DataLoader[int, int]":
        """A loader whose callers have a future each."""
        if self._loader is None:
            self._loader = DataLoader(self._load, cache=False)
        return self._loader

    async def _load(self, keys: list[int]) -> list[int]:
        self.batches.append(list(keys))
        await asyncio.sleep(0)
        return [key * 7 for key in keys]

    async def _load_slowly(self, keys: list[int]) -> list[int]:
        for _ in range(3 + 2 * (sum(keys) % 3)):
            await asyncio.sleep(0)
        return [key * 11 for key in keys]

    def share(self, key: int) -> Awaitable[Any]:
        """Returns an awaitable that the callers with the same key share: futures of plain loaders,
        one or several, or a task."""
        kind, key = ("strawberry", "aiodataloader", "tasks")[key % 3], key // 3 % 4
        self.seen.add("shared tasks" if kind == "tasks" else f"plain loaders of {kind}")
        if kind == "tasks":
            if key not in self._tasks:
                self._tasks[key] = asyncio.ensure_future(self._one(key))
            shared: Any = self._tasks[key]
        else:
            loader = self._plain.get(kind)
            if loader is None:
                make: Any = strawberry.dataloader.DataLoader if kind == "strawberry" else DataLoader
                loader = self._plain[kind] = make(self._load_slowly)
            shared = loader.load_many([0, 1]) if key > 2 else loader.load(key)
        return asyncio.shield(shared) if self.shielded else shared

    async def _one(self, key: int) -> int:
        return (await self._load_slowly([key]))[0]


class GaveUp(Exception):
    """Raised in place of waiting forever."""


class Weird:
    """A value that fits no type."""

    def __repr__(self) -> str:
        return "<weird>"

    __str__ = __repr__


class Number(IntEnum):
    ONE = 1


class Text(str):
    __slots__ = ()


class Whole(int):
    __slots__ = ()


class Custom(Exception):
    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = f"custom {message}"
        self.extensions = {"code": "CUSTOM", "at": [1]}


class Mute(Exception):
    """An error whose `__str__` raises if it is `mute`. In graphql-core's run it has the text that
    the engine gives such an error."""

    def __init__(self, mute: bool) -> None:
        super().__init__(*(() if mute else ("Mute (its text can't be made)",)))
        self.mute = mute

    def __str__(self) -> str:
        if self.mute:
            raise RuntimeError("no text")
        return super().__str__()


ODD: tuple[Any, ...] = (
    *(True, False, 0, -1, 1, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**53, 2**53 + 1, 2**80),
    *(0.0, -0.0, 1.0, 1.5, 1e16, -3.0, float("nan"), float("inf"), float("-inf"), 5e-324),
    *("", "7", "-1.5", "abc", "true", "V0", "π\n", b"bytes", Text("text"), Whole(12), Number.ONE),
    *(Decimal("1.5"), Decimal("2"), 1 + 2j, Weird(), Weird, [], {}, (), [1], {"a": 1}, (1, "x")),
    *(Undefined, NotImplemented, Ellipsis, object, len, frozenset(), range(2)),
    *(asyncio.CancelledError("returned"), KeyboardInterrupt("returned"), BaseException()),
    *("\ud800", [2**70], {1: "one", None: [2**64]}, ["\udfff", {"\ud800": -(2**63) - 1}]),
)
WORDS = (
    "plain",
    "",
    "ünï 😀",
    'quo"te\\/',
    "tab\tnew\nline",
    "\x00\x1f\x7f",
    "\u2028",
    "</script>",
)


def produce(run: Run, wraps: str, name: str, key: int, required: bool = False) -> Any:
    """Returns the value of a type for a key. In `run.trouble` percent of the cases, it is a wrong
    value or an error."""
    if wraps[:1] == "!":
        return produce(run, wraps[1:], name, key, True)
    roll = mix(key, b"value")
    if roll % 100 < (run.trouble // 4 if required else 8):
        return None
    if run.trouble and roll // 100 % 100 < run.trouble // 2:
        return _trouble(run, mix(key, b"trouble"))
    if wraps:
        return _several(run, wraps[1:], name, key)
    world = run.world
    if name in world.objects:
        return run.make(run, name, key)
    if name in world.abstracts:
        members = world.abstracts[name].members
        return run.make(run, members[mix(key, b"member") % len(members)], key)
    return _leaf(run, name, mix(key, b"leaf"))


def _trouble(run: Run, key: int) -> Any:
    if key % 3 == 0:
        run.seen.add("exceptions returned")
        return exception(key, run)
    run.seen.add("wrong values")
    if key % 11 == 1:
        members = [n for n in run.world.objects if n not in ("Query", "Mutation")]
        return run.make(run, members[key % len(members)], key)
    value = ODD[key // 11 % len(ODD)]
    if isinstance(value, BaseException):
        run.seen.add("base exceptions returned")
    return value


def exception(key: int, run: Run | None = None) -> Exception:
    """Returns an error for a resolver to raise."""
    if run is not None and key % 13 == 0:
        run.seen.add("exceptions without a text")
        return Mute(run.mute)
    text = f"trouble {key % 97}"
    kind = key // 97 % 12
    if kind == 0:
        return GraphQLError(text, extensions={"code": "TROUBLE", "n": key % 5})
    if kind == 1:
        return Custom(text)
    if kind == 2:
        return KeyError(text)
    if kind == 3:
        return ValueError()
    if kind == 4:
        return TimeoutError(text)
    if kind == 5:
        return GraphQLError(text, original_error=ValueError(text))
    if kind == 6:
        return AttributeError(text)
    if kind == 7:
        return StopAsyncIteration(text)
    if kind == 8:
        return TypeError(text)
    return RuntimeError(text)


def _leaf(run: Run, name: str, key: int) -> Any:
    if name == "Int":
        return key % 4001 - 2000
    if name == "String":
        if key % 23 == 0:
            run.seen.add("lone surrogates")
            return f"half \ud83d{key % 10}"
        return f"{WORDS[key % len(WORDS)]}{key % 1000}"
    if name == "Boolean":
        return key % 2 == 0
    if name == "Float":
        return (key % 4001 - 2000) / 8 if key % 3 else key % 100
    if name == "ID":
        return key % 1000 if key % 2 else f"id-{key % 1000}"
    world = run.world
    if name in world.enums:
        run.seen.add("enums")
        return run.enum(name, key)  # type: ignore[attr-defined]
    run.seen.add("custom scalars")
    kind = world.scalars[name]
    if kind == "json":
        if key % 5 == 0:
            run.seen.add("JSON that orjson refuses")
            return ([2**70], {1: "a", None: [key % 9]}, ["\ud800", key % 9])[key // 5 % 3]
        return (key % 50, {"k": [key % 9, None, True]}, [["x"], 1.5], "s", {"e": {}})[key // 50 % 5]
    if kind == "even":
        return key % 100 * 2 + (1 if key % 1000 < 100 else 0)
    return f"{WORDS[key % len(WORDS)]}{key % 1000}"


def _several(run: Run, wraps: str, name: str, key: int) -> Any:
    """Returns a list, or another iterable that completes as a list."""
    shape = mix(key, b"shape")
    length = (2, 0, 1, 3)[shape % 4]
    keys = [mix(key, b"item%d" % index) for index in range(length)]
    eager = run.eager

    def item(key: int) -> Any:
        if not eager and mix(key, b"later") % 100 < 6:
            run.seen.add("async items")
            return later(key)
        return produce(run, wraps, name, key)

    async def later(key: int) -> Any:
        # The value is made only after waiting: a coroutine that is cancelled before its first step
        # can't close awaitables in a value that it got as an argument.
        await wait(run, key)
        return produce(run, wraps, name, key)

    shape //= 4
    kind = shape % (13 if run.sharing else 24)
    breaks = shape // 24 % length if length and run.trouble and shape % 5 == 0 else None
    if kind < 13:
        return [item(key) for key in keys]
    if kind < 15:
        return tuple([item(key) for key in keys])
    if kind == 15:
        return deque([item(key) for key in keys])
    if kind == 16:
        return dict(enumerate([item(key) for key in keys])).values()
    run.seen.add("generators")
    if kind < 21:

        def generate() -> Iterator[Any]:
            for index, key in enumerate(keys):
                if index == breaks:
                    raise exception(key)
                yield item(key)

        return generate()

    async def generate_async() -> AsyncIterator[Any]:
        for index, key in enumerate(keys):
            if mix(key, b"pause") % 2:
                await asyncio.sleep(0)
            if index == breaks:
                raise exception(key)
            yield item(key)

    run.seen.add("async generators")
    return Several(generate_async) if eager else generate_async()


class Several:
    """The items of an attribute. Each reader gets all items.

    Two fields that read one generator concurrently would each get some of its items, depending on
    the order of their turns. GraphQL defines no order for such side effects (section "Normal and
    Serial Execution").
    """

    def __init__(self, generate: Callable[[], AsyncIterator[Any]]) -> None:
        self._generate = generate

    def __aiter__(self) -> AsyncIterator[Any]:
        return self._generate()


async def wait(run: Run, key: int, of_request: bool = True) -> int:
    """Await up to three times, in different ways. Returns a number that depends on the results.
    `of_request` says whether a cancellation of the request must cancel the caller at once."""
    rest = mix(key, b"wait")
    total = 0
    for _ in range(rest % 4):
        rest //= 4
        kind = 12 if run.world.shares and rest % 3 else rest % 16
        if kind in (8, 9) or (kind < 5 and run.cut):
            await run.pause(of_request)
        elif kind < 5:
            await asyncio.sleep(0)
        elif kind < 8:
            run.seen.add("loaders")
            total += await run.loader.load(rest % 6)
        elif kind == 10:
            async with asyncio.TaskGroup() as group:
                one = group.create_task(asyncio.sleep(0, 1))
                two = group.create_task(asyncio.sleep(0, 2))
            total += one.result() + two.result()
        elif kind > 11:
            shared = await run.share(mix(key, b"shared"))
            total += shared if isinstance(shared, int) else sum(shared)
        else:
            total += sum(await asyncio.gather(asyncio.sleep(0, 3), asyncio.sleep(0, 4)))
    return total


class Later:
    """An awaitable that is not a coroutine."""

    def __init__(self, coroutine: Any) -> None:
        self._coroutine = coroutine

    def __await__(self) -> Any:
        return self._coroutine.__await__()

    def __del__(self) -> None:
        self._coroutine.close()


def answer(run: Run, field: Field, key: int) -> Any:
    """A resolver that is a plain function."""
    run.seen.add("sync")
    run.answered.add((field.name, key))
    if run.trouble and mix(key, b"raise") % 100 < run.trouble // 2:
        run.seen.add("exceptions raised")
        raise exception(mix(key, b"error"), run)
    if "shared" in field.extras:
        return _shared(run, field)
    return produce(run, field.type.wraps, field.type.name, key)


def _shared(run: Run, field: Field) -> list[Any]:
    """Returns the same list to all parents, with its first contents. Resolvers change it after they
    have awaited something (`Run.reverse`)."""
    run.seen.add("shared lists")
    found = run.shared.get(field.name)
    if found is None:
        run.eager, run.sharing, eager = True, True, run.eager
        inner = field.type.wraps.lstrip("!")[1:]
        key = mix(run.world.seed, field.name.encode())
        items = [produce(run, inner, field.type.name, mix(key, b"%d" % n)) for n in range(3)]
        run.eager, run.sharing = eager, False
        found = run.shared[field.name] = [], items
    found[0][:] = found[1]
    return found[0]


async def overwriting(run: Run, source: Any, names: list[str], result: Awaitable[Any]) -> Any:
    """Await a result. Meanwhile the attributes of its parent are overwritten."""
    try:
        await asyncio.sleep(0)
        if all(source is not each for each in run.frozen):
            run.seen.add("attributes overwritten")
            for name in names:
                _overwrite(source, name)
    except BaseException:
        _close(result)
        raise
    return await result


def _overwrite(source: Any, name: str) -> None:
    values = source if isinstance(source, dict) else getattr(source, "__dict__", None)
    if isinstance(values, dict) and name in (values := values.get("_values", values)):
        values[name] = ["overwritten"]


async def answer_later(run: Run, field: Field, key: int) -> Any:
    """A resolver that is a coroutine function."""
    run.seen.add("async")
    task = asyncio.current_task()
    if run.hang and mix(key, b"hang") % 2 == 0:
        await _hang(run, slowly=key % 3 == 0)
    if run.rogue and mix(key, b"rogue") % 2 == 0:
        run.hung += 1
        run.seen.add("self-cancelled")
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)
    if run.world.ambient and "ambient" in field.extras:
        run.seen.add("context variables")
        key = mix(key, b"%d" % AMBIENT.get())
        mine = mix(key, b"ambient")
        AMBIENT.set(mine)
        await wait(run, key)
        if AMBIENT.get() != mine:
            raise AssertionError("a context variable was set by another resolver")
    elif "timeout" in field.extras:
        run.seen.add("timeouts in resolvers")
        key = await _timed(run, key)
    else:
        early = run.trouble and mix(key, b"raise") % 100 < run.trouble // 4
        if not early:
            key = mix(key, b"%d" % await wait(run, key))
        if run.shared:
            await asyncio.sleep(0)
            run.reverse()
    if asyncio.current_task() is not task:
        raise AssertionError("the current task changed")
    return answer(run, field, key)


async def _timed(run: Run, key: int) -> int:
    """A resolver with a timeout of its own. The timeout may pass or not, and the resolver may catch
    it or not."""
    how = mix(key, b"timed") % 4
    if how == 0:
        async with asyncio.timeout(3600):
            return mix(key, b"%d" % await wait(run, key))
    if how == 1:
        try:
            async with asyncio.timeout(0):
                await asyncio.get_running_loop().create_future()
        except TimeoutError:
            await wait(run, key)
        return key
    if how == 2:
        task, waited = asyncio.current_task(), asyncio.ensure_future(wait(run, key, False))
        value = await asyncio.wait_for(waited, 3600)
        # In Python 3.11, wait_for drops a cancellation that comes in the same turn as the value.
        # graphql-core would then execute the fields below, although the parent is null already; the
        # engine does not.
        if task is not None and task.cancelling():
            raise asyncio.CancelledError
        return mix(key, b"%d" % value)
    async with asyncio.timeout(0):
        await asyncio.get_running_loop().create_future()
    raise AssertionError("the timeout did not pass")


async def _hang(run: Run, slowly: bool) -> None:
    """Wait forever. When cancelled, end at once, or `slowly`: three turns later."""
    if run.gives_up:
        raise GaveUp
    run.hung += 1
    run.seen.add("hung")
    try:
        await asyncio.get_running_loop().create_future()
    finally:
        for _ in range(3 if slowly else 0):
            await asyncio.sleep(0)
        run.unwound += 1


def respond(run: Run, field: Field, key: int) -> Any:
    """Returns what a resolver of the field's style returns for a key: a value or an awaitable."""
    style = field.style
    if style == "mixed":
        style = "async" if key % 2 else "sync"
    if style in ("sync", "attribute", "method"):
        return answer(run, field, key)
    if style == "future":
        return _future(run, field, key)
    if style == "custom":
        return Later(answer_later(run, field, key))
    if style == "task":
        return asyncio.ensure_future(answer_later(run, field, key))
    return answer_later(run, field, key)


def _future(run: Run, field: Field, key: int) -> Awaitable[Any]:
    loop = asyncio.get_running_loop()
    future = loop.create_future()
    later = bool(key % 3)
    eager, run.eager = run.eager, run.eager or later
    try:
        # The value is lost if the waiting task is cancelled in the turn in which the value arrives.
        # Nothing would then close awaitables in the value, so it has none (`eager`).
        value = answer(run, field, key)
    except Exception as error:
        if not isinstance(error, StopIteration):
            loop.call_soon(_settle, future, error, True)
            return future
        raise
    finally:
        run.eager = eager
    if later:
        loop.call_soon(_settle, future, value, False)
    else:
        future.set_result(value)
    return future


def _settle(future: "asyncio.Future[Any]", value: Any, failed: bool) -> None:
    if future.done():  # cancelled: nothing will await the awaitables in the value
        _close(value)
        return
    if failed:
        future.set_exception(value)
    else:
        future.set_result(value)


def _close(value: Any) -> None:
    if asyncio.iscoroutine(value):
        value.close()
    elif isinstance(value, asyncio.Task):
        value.cancel()
    elif isinstance(value, (list, tuple, deque)):
        for item in value:
            _close(item)


def traced(run: Run, name: str, key: int, result: Any) -> Any:
    """Record the start of a mutation, and its end if it returned an awaitable."""
    run.seen.add("mutations")
    run.trace.append(f"start {name} {key}")
    if hasattr(result, "__await__"):
        return _ended(run, name, key, result)
    return result


async def _ended(run: Run, name: str, key: int, result: Any) -> Any:
    try:
        return await result
    finally:
        run.trace.append(f"end {name} {key}")
