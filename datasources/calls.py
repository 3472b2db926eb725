"""Measures every call of a store: its duration by store, backend, operation and outcome, and the
hits and misses of caches. Calls of stores are measured nowhere else: metrics and recordings
(`datasources.recording`) both use these values.

`observed(stores, calls)` wraps the stores. The measured calls are the coroutine functions of the
protocols in `datasources.protocols`, except calls that last as long as the process.
"""

import inspect
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import cache
from time import perf_counter
from typing import Any, NamedTuple, TypeVar, cast

from datasources import protocols
from datasources.latencies import CALL_BOUNDS, Latencies
from datasources.mappings import ListHead
from datasources.protocols import SearchStore, Sides, Stores
from datasources.recording import OK, current, outcome_of

T = TypeVar("T")
_UNCOUNTED = {"close", "create", "work"}
"""Calls that take long or are made once."""


class Called(NamedTuple):
    """The labels of a call."""

    store: str
    backend: str
    operation: str
    outcome: str


class Calls:
    """The calls of one process' stores since its start."""

    def __init__(self) -> None:
        self.latencies: dict[Called, Latencies] = {}
        self.hits: Counter[str] = Counter()
        self.misses: Counter[str] = Counter()
        """Keys by cache."""

    def of(self, called: Called) -> Latencies:
        """The latencies of the calls with these labels."""
        found = self.latencies.get(called)
        if found is None:
            found = self.latencies[called] = Latencies(CALL_BOUNDS)
        return found

    def looked_up(self, cache: str, hits: int, keys: int) -> None:
        """Count the keys that were looked up in a cache, and the keys that the cache had."""
        self.hits[cache] += hits
        self.misses[cache] += keys - hits


def observed(stores: Stores, calls: Calls) -> Stores:
    """The same stores, with every call measured."""
    shards = stores.shards
    backend = backend_of(shards)
    inner = {
        name: _wrapped(getattr(shards, name), protocol, name, backend, calls)
        for name, protocol in _SHARDS.items()
    }
    return Stores(
        shards=cast(protocols.ShardStore, _Observed(shards, inner)),
        object_cache=_cached(stores.object_cache, protocols.ObjectCache, "object_cache", calls),
        mapping_cache=_cached(stores.mapping_cache, protocols.MappingCache, "mapping_cache", calls),
        queue=_store(stores.queue, protocols.JobQueue, "queue", calls),
        topology=stores.topology,
        pools=_sides(stores.pools, "pools", calls),
        feeds=_sides(stores.feeds, "feeds", calls),
        broadcasts=stores.broadcasts,
        pictures=_store(stores.pictures, protocols.PictureStore, "pictures", calls)
        if stores.pictures
        else None,
        generations=stores.generations,
        writes_per_day=stores.writes_per_day,
    )


def observed_search(search: SearchStore, calls: Calls) -> SearchStore:
    """The same search index, with every call measured."""
    return _store(search, protocols.SearchStore, "search", calls)


_SHARDS = {
    "objects": protocols.ObjectStore,
    "mappings": protocols.MappingStore,
    "outbox": protocols.Outbox,
    "visits": protocols.VisitStore,
    "expiry": protocols.Expiry,
    "mod": protocols.ModStore,
}


def backend_of(store: object) -> str:
    """The backend's name, which is the name of its folder: "sqlite", "redis"."""
    store = store._store if isinstance(store, _Observed) else store
    return type(store).__module__.split(".")[1]


class _Observed:
    """A stand-in for a store. `made` are the attributes that replace the store's attributes."""

    def __init__(self, store: object, made: dict[str, Any]) -> None:
        self.__dict__.update(made)
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def _store(store: T, protocol: type, name: str, calls: Calls) -> T:
    return _wrapped(store, protocol, name, backend_of(store), calls)


def _sides(sides: Sides, name: str, calls: Calls) -> Sides:
    return Sides(
        *(
            _store(side, protocols.WideColumnStore, f"{name}_{which}", calls)
            for which, side in zip(("primary", "standby"), sides, strict=True)
        )
    )


def _wrapped(store: T, protocol: type, name: str, backend: str, calls: Calls) -> T:
    made = {
        operation: _measured(getattr(store, operation), name, backend, operation, calls)
        for operation in _operations(protocol)
    }
    for plain in _plain(protocol):
        made[plain] = getattr(store, plain)
    return cast(T, _Observed(store, made))


def _cached(store: T, protocol: type, name: str, calls: Calls) -> T:
    """A cache, with hits and misses counted."""
    wrapped: Any = _store(store, protocol, name, calls)
    for operation, hits_in in _LOOKUPS[name].items():
        setattr(wrapped, operation, _counted(getattr(wrapped, operation), name, hits_in, calls))
    local = getattr(store, "local", None)
    if local is not None:
        wrapped.local = _Observed(local, {"held": _held(local.held, name, calls)})
    return cast(T, wrapped)


@cache
def _operations(protocol: type) -> list[str]:
    return [
        name
        for name, function in inspect.getmembers(protocol, inspect.iscoroutinefunction)
        if name not in _UNCOUNTED
    ]


@cache
def _plain(protocol: type) -> list[str]:
    """The functions of a protocol that return without waiting."""
    functions = inspect.getmembers(protocol, inspect.isfunction)
    return [n for n, f in functions if not (n.startswith("_") or inspect.iscoroutinefunction(f))]


def _measured(
    method: Callable[..., Awaitable[T]], store: str, backend: str, operation: str, calls: Calls
) -> Callable[..., Awaitable[T]]:
    name = f"{store}.{operation}"
    good: Latencies | None = None

    async def call(*args: Any, **options: Any) -> T:
        nonlocal good
        above = current()
        span = None if above is None else above.begin("store", name)
        began = perf_counter()
        try:
            answer = await method(*args, **options)
        except BaseException as error:
            outcome = outcome_of(error)
            calls.of(Called(store, backend, operation, outcome)).add(perf_counter() - began)
            if span is not None:
                span.end(outcome)
                span.notes["backend"] = backend
            raise
        if good is None:
            good = calls.of(Called(store, backend, operation, OK))
        good.add(perf_counter() - began)
        if span is not None:
            span.end()
            span.notes["backend"] = backend
            if args and type(args[0]) is list:
                span.notes["keys"] = len(args[0])
        return answer

    return call


def _counted(
    method: Callable[..., Awaitable[T]], cache: str, hits_in: Callable[[T], int], calls: Calls
) -> Callable[..., Awaitable[T]]:
    async def call(keys: Sequence[Any]) -> T:
        answer = await method(keys)
        hits = hits_in(answer)
        calls.looked_up(cache, hits, len(keys))
        if (above := current()) is not None:
            above.recording.looked_up(cache, hits, len(keys))
        return answer

    return call


def _held(
    held: Callable[[Sequence[int]], dict[int, bytes]], cache: str, calls: Calls
) -> Callable[[Sequence[int]], dict[int, bytes]]:
    """Counts the hits only. Keys without an entry in this process are looked up again in the cache,
    and are counted then."""

    def call(ids: Sequence[int]) -> dict[int, bytes]:
        found = held(ids)
        if found:
            calls.hits[cache] += len(found)
            if (above := current()) is not None:
                above.recording.looked_up(cache, len(found), len(found))
        return found

    return call


def _values(kind: type) -> Callable[[dict[Any, Any]], int]:
    return lambda answer: sum(isinstance(entry, kind) for entry in answer.values())


def _windows(answer: Iterable[Any]) -> int:
    return sum(isinstance(entry, list) for entry in answer)


_LOOKUPS: dict[str, dict[str, Callable[[Any], int]]] = {
    "object_cache": {"get": _values(bytes)},
    "mapping_cache": {"pages": _windows, "heads": _values(ListHead)},
}
"""For each call that looks up keys, by cache: a function that counts the hits in its answer."""
