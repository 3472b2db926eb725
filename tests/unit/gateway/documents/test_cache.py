"""Documents are cached by text, limited in number and in bytes."""

import asyncio
import gc
import tracemalloc
import weakref
from collections.abc import Callable
from dataclasses import replace
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
from graphql import GraphQLError, Node, Token, get_introspection_query

from gateway.documents.cache import REFUSED, SMALL, Document, Documents, PreparedOperation
from gateway.documents.reader import ERRORS, Read
from gateway.execution.client_errors import MESSAGE
from gateway.execution.compile.plan import VARIANTS
from gateway.execution.compile.variant import BYTES_A_FIELD, LARGE
from gateway.execution.executor import Executor
from gateway.execution.model.selection import Selection
from gateway.http.peers import Proxies
from gateway.server.fairness.clients import Clients
from gateway.server.fairness.shares import Shares
from gateway.settings import Settings
from gateway.site.executors import limits_of
from schema import schema
from tests.unit.gateway.documents.test_limits import fan_out
from tests.unit.test_architecture import ROOT

SAMPLES = sorted((ROOT / "gateway/samples").glob("*.graphql"))


def documents(size: int = 100, max_bytes: int = 10**9) -> Documents:
    return Documents(schema._schema, size=size, max_bytes=max_bytes, limits=limits_of(Settings()))


def test_a_text_is_read_once() -> None:
    cache = documents()
    assert cache.get("{viewer{id}}") is cache.get("{viewer{id}}")
    assert (cache.stats.hits, cache.stats.misses, cache.stats.documents) == (1, 1, 1)


def test_the_least_recently_used_document_is_evicted_first() -> None:
    cache = documents(size=2)
    kept = cache.get("{a:__typename}")
    cache.get("{a:__typename}")
    cache.get("{b:__typename}")
    cache.get("{c:__typename}")
    assert cache.get("{a:__typename}") is kept
    assert (cache.stats.evictions, cache.stats.documents) == (1, 2)


def test_the_cache_is_limited_in_bytes() -> None:
    one = documents().get("{a:__typename}").bytes
    cache = documents(max_bytes=one * 3)
    for name in "abcdefgh" * 2:
        cache.get(f"{{{name}:__typename}}")
    assert cache.stats.bytes == one * 3
    assert cache.stats.documents == 3
    cache.get("{" + " ".join(f"a{n}:__typename" for n in range(100)) + "}")
    assert cache.stats.documents == 3  # the document is larger than the whole cache


def long_text(name: str) -> str:
    """Returns a document that is too long to be read on the event loop."""
    return f"{{ {name}: __typename }} #" + "x" * SMALL


@pytest.mark.anyio
async def test_requests_for_one_new_text_share_a_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    cache, texts = documents(), []
    read = cache._reader.read

    def counted(text: str, pause: Callable[[], None] | None = None) -> Read:
        texts.append(text)
        return read(text, pause)

    monkeypatch.setattr(cache._reader, "read", counted)
    names = "abab" * 5
    found = await asyncio.gather(*[cache.read(long_text(name)) for name in names])
    assert sorted(texts) == [long_text("a"), long_text("b")]
    assert {id(document) for document in found} == {id(found[0]), id(found[1])}
    assert cache.found(long_text("a")) is found[0]
    assert not cache._reading


@pytest.mark.anyio
@pytest.mark.parametrize("text", ["{ a: __typename }", long_text("a")], ids=["short", "long"])
async def test_a_text_that_was_read_since_it_was_missed_is_not_read_again(text: str) -> None:
    cache = documents()
    assert cache.found(text) is cache.found(text) is None  # two requests, which then wait
    document = await cache.read(text)
    assert await cache.read(text) is document
    assert cache.stats.bytes == document.bytes


@pytest.mark.parametrize("name", ["viewer", "nothing"])
def test_a_reading_pauses_at_each_token_and_at_each_validated_node(name: str) -> None:
    reader = documents()._reader

    def pauses(text: str) -> int:
        counted = list[None]()
        read, expected = reader.read(text, lambda: counted.append(None)), reader.read(text)
        assert (read.ast is None) == (expected.ast is None) == (name == "nothing")
        assert [error.message for error in read.errors] == [e.message for e in expected.errors]
        return len(counted)

    more = pauses(f"{{ {name} {{ id id }} }}") - pauses(f"{{ {name} {{ id }} }}")
    assert more == 1 + 2  # a token; a field, and its name


@pytest.mark.anyio
async def test_a_reading_is_cancelled_with_its_last_request() -> None:
    cache, begun, go_on = documents(), asyncio.Event(), Event()
    loop = asyncio.get_running_loop()

    def wait() -> None:
        loop.call_soon_threadsafe(begun.set)
        go_on.wait()

    busy = asyncio.ensure_future(cache._engine.aside.do(0, wait))
    await begun.wait()
    first, second, other = (
        asyncio.ensure_future(cache.read(long_text(name))) for name in ("a", "a", "b")
    )
    await asyncio.sleep(0)
    first.cancel()
    other.cancel()
    await asyncio.sleep(0)
    assert list(cache._reading) == [long_text("a")]
    go_on.set()
    assert (await second).errors == []
    await busy
    assert other.cancelled()
    assert cache.found(long_text("b")) is None


@pytest.mark.anyio
async def test_a_refused_document_is_not_cached_but_its_errors_are() -> None:
    cache = documents()
    for text in ("{ nothing }", "{ viewer", "{ nothing }" + " " * SMALL):
        refused = await cache.read(text)
        assert refused.ast is None
        assert await cache.read(text) is refused
        (error,) = refused.errors
        assert error.nodes is None
        assert error.source is None
        assert error.formatted["locations"]
    assert (cache.stats.documents, cache.stats.bytes, cache.stats.refused) == (0, 0, 3)


@pytest.mark.anyio
async def test_the_errors_of_a_limited_number_of_documents_are_cached() -> None:
    cache = documents()
    for n in range(REFUSED + 20):
        await cache.read(f"{{ nothing{n} }}")
    assert len(cache._refused) == REFUSED


def test_the_number_and_length_of_errors_are_limited() -> None:
    fields = " ".join(f'viewer{{boards(x{n}: "{"y" * 2_000}"){{edges{{z}}}}}}' for n in range(40))
    limits = replace(limits_of(Settings()), root_fields=100)
    cache = Documents(schema._schema, size=1, max_bytes=10**9, limits=limits)
    errors = cache.get(f"{{ {fields} }}").errors
    assert len(errors) == ERRORS + 1
    assert max(len(error.message) for error in errors) <= MESSAGE + 3


@pytest.mark.parametrize(
    "text",
    [
        "{ viewer { id } }",
        "{ viewer { unknown } }",
        "{ viewer { id } ",
        "{ viewer { id } } $ { a b c }",
        "{" + " viewer {" * 5_000,
        "{ viewer { id } }" + " " * 200_000,
    ],
    ids=["valid", "invalid", "cut", "unreadable", "deep", "long"],
)
def test_no_tokens_are_left_to_the_collector(text: str) -> None:
    def count() -> int:
        return sum(isinstance(found, Token) for found in gc.get_objects())

    cache = documents()
    cache.get("{ __typename }")
    gc.collect()
    before = count()
    gc.disable()
    try:
        cache.get(text)
        assert count() <= before + 1
    finally:
        gc.enable()


@pytest.mark.parametrize(
    "text",
    [
        SAMPLES[0].read_text(),
        "query A($a: ID!) { node(id: $a) { ...F } } fragment F on User { id } query B { viewer }",
        "{ viewer { unknown } }",
        "{" + "".join(f" unknown{n}" for n in range(2 * ERRORS)) + " }",
    ],
    ids=["valid", "two operations", "invalid", "many errors"],
)
def test_a_reading_leaves_nothing_to_the_collector(text: str) -> None:
    reader = documents()._reader
    reader.read(text)
    gc.collect()
    gc.disable()
    try:
        read = reader.read(text)
        assert gc.collect() == 0
        assert read.errors or read.ast
    finally:
        gc.enable()


def test_a_syntax_tree_is_cached_without_its_tokens() -> None:
    document = documents().get("{ viewer { id ...F } } fragment F on User { a: username }")
    assert document.ast is not None
    left: list[Any] = [document.ast]
    tokens: set[int] = set()
    while left:
        node = left.pop()
        assert node.loc is not None
        assert document.ast.loc is not None
        assert node.loc.source is document.ast.loc.source
        tokens |= {id(node.loc.start_token), id(node.loc.end_token)}
        for key in node.keys:
            below = getattr(node, key, None)
            left += [
                one
                for one in (below if isinstance(below, tuple) else [below])
                if isinstance(one, Node)
            ]
    assert len(tokens) == 1
    assert document.fields == {"viewer", "id", "username"}


def test_the_error_of_an_unknown_operation_is_not_cached() -> None:
    document = documents().get("query A{__typename} query B{__typename}")
    assert isinstance(document.operation("A"), PreparedOperation)
    for name in (None, "C", "D"):
        assert isinstance(document.operation(name), GraphQLError)
    assert len(document._operations) == 1


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_samples_are_compiled(path: object) -> None:
    found = documents().get(path.read_text()).operation(None)  # type: ignore[attr-defined]
    assert isinstance(found, PreparedOperation)
    assert found.plan.fallback is None


def compiled(cache: Documents, text: str) -> Document:
    """Returns the document, with all parts compiled."""
    document = cache.get(text)
    found = document.operation(None)
    assert isinstance(found, PreparedOperation)
    variant = found.plan._variant({})
    assert variant is not None
    variant._prepare()
    return document


MANY_FIELDS = "{ viewer {" + "".join(
    f"a{n}: boards {{ edges {{ cursor node {{ id b{n}: name }} }} }}" for n in range(45)
) + "} }"  # fmt: skip


def test_the_size_of_a_document_is_estimated_closely() -> None:
    texts = [path.read_text() for path in SAMPLES[:2]]
    for text in [*texts, get_introspection_query(), MANY_FIELDS]:
        compiled(documents(), text)
        cache = documents(size=100)
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        said = sum(compiled(cache, text + " " * n).bytes for n in range(3))
        gc.collect()
        taken = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        assert said == cache.stats.bytes
        assert 0.4 < said / taken < 2.5, (said, taken)


def test_compiled_parts_are_charged_and_make_documents_be_evicted() -> None:
    cache = documents(max_bytes=1_500_000)
    kept = []
    for n in range(4):
        compiled(cache, MANY_FIELDS + " " * n)
        kept.append(cache.get(MANY_FIELDS + " " * n))
        assert kept[-1].bytes > 400_000
        assert cache.stats.bytes <= 1_500_000
    assert cache.stats.evictions >= 1
    assert cache.stats.bytes == sum(document.bytes for document in kept if document.grown)


def test_a_plan_is_charged_for_the_variants_that_it_keeps() -> None:
    cache = documents()
    conditions = " ".join(f"$v{n}: Boolean!" for n in range(5))
    fields = " ".join(f"a{n}: username @include(if: $v{n})" for n in range(5))
    document = cache.get(f"query ({conditions}) {{ viewer {{ id {fields} }} }}")
    found = document.operation(None)
    assert isinstance(found, PreparedOperation)
    before = document.bytes
    sizes = []
    for number in range(32):
        flags = {f"v{n}": bool(number >> n & 1) for n in range(5)}
        variant = found.plan._variant(flags)
        assert variant is not None
        variant._prepare()
        sizes.append(document.bytes - before)
    assert sizes[VARIANTS - 1] > VARIANTS * BYTES_A_FIELD
    assert max(sizes) <= VARIANTS * 9 * BYTES_A_FIELD
    assert document.bytes == cache.stats.bytes


def test_an_evicted_document_is_freed_without_the_collector() -> None:
    cache = documents(size=1)
    gc.collect()
    gc.disable()
    try:
        compiled(cache, MANY_FIELDS)
        alive = [weakref.ref(field) for selection in selections_of(cache) for field in
                 selection.fields]  # fmt: skip
        assert len(alive) > 200
        assert all(one() for one in alive)
        cache.get("{ __typename }")
        assert sum(1 for one in alive if one()) == 0
    finally:
        gc.enable()


def test_an_evicted_document_is_freed_when_its_last_request_ends() -> None:
    cache = documents(size=1)
    document = compiled(cache, MANY_FIELDS)
    alive = [weakref.ref(field) for one in selections_of(cache) for field in one.fields]
    document.begin()
    document.begin()
    gc.disable()
    try:
        cache.get("{ __typename }")
        document.end()
        assert cache.found(MANY_FIELDS) is None
        assert all(one() for one in alive)
        document.end()
        assert not any(one() for one in alive)
    finally:
        gc.enable()


@pytest.mark.anyio
async def test_a_document_that_is_too_large_for_the_cache_is_freed_after_its_request() -> None:
    def count() -> int:
        return sum(isinstance(found, Selection) for found in gc.get_objects())

    executor = Executor(documents(max_bytes=1), timeout=60)
    context: Any = SimpleNamespace(again=None, fault=None)
    gc.collect()
    before = count()
    gc.disable()
    try:
        result = await executor.run("{ __schema { types { name } } }", None, None, context)
        assert result.started
        assert count() == before
    finally:
        gc.enable()


def selections_of(cache: Documents) -> list[Any]:
    (document,) = cache._documents._new.entries.values()
    (operation,) = document._operations.values()
    variant = operation.plan._variant({})
    assert variant is not None
    return list(variant._made)


@pytest.mark.anyio
async def test_a_large_operation_is_compiled_once_beside_the_loop() -> None:
    cache = documents()
    document = await cache.read(MANY_FIELDS)
    found = document.operation(None)
    assert isinstance(found, PreparedOperation)
    assert found.plan.selections > LARGE
    variant = found.plan._variant({})
    assert variant is not None
    assert variant.unprepared
    before = document.bytes
    await asyncio.gather(*[variant.prepare(cache._engine.aside) for _ in range(5)])
    assert not variant.unprepared
    made = len(variant._made)
    assert made > 100
    fields = sum(len(selection.fields) + 1 for selection in variant._made)
    assert document.bytes == before + fields * BYTES_A_FIELD
    assert all("shape" in vars(selection) for selection in variant._made)


def test_response_paths_share_equal_selections() -> None:
    limits = replace(limits_of(Settings()), selections=10**9, aliases=10**9)
    cache = Documents(schema._schema, size=1, max_bytes=10**9, limits=limits)
    document = cache.get(fan_out(12))
    found = document.operation(None)
    assert isinstance(found, PreparedOperation)
    assert found.plan.selections > 2_000_000
    variant = found.plan._variant({})
    assert variant is not None
    variant._prepare()
    assert len(variant._made) < 60
    assert document.bytes < 1_000_000


def test_a_document_that_is_read_on_the_loop_leaves_no_garbage() -> None:
    text = "{ " + " ".join(f"a{n}: __typename" for n in range(20)) + " }"
    assert len(text) <= SMALL
    thresholds = gc.get_threshold()
    gc.set_threshold(0)  # no pass but the reading's own
    try:
        cache = documents()
        cache.get("{ __typename }")
        gc.collect()
        cache.get(text)
        assert gc.collect(0) < 20
    finally:
        gc.set_threshold(*thresholds)


@pytest.mark.anyio
async def test_the_time_of_a_reading_beside_the_loop_is_told_once() -> None:
    cache, told = documents(), list[float]()
    await asyncio.gather(*[cache.read(long_text("a"), told.append) for _ in range(3)])
    assert len(told) == 1
    assert told[0] > 0
    await cache.read("{ __typename }", told.append)  # a step of the request has this time
    assert len(told) == 1


@pytest.mark.anyio
async def test_a_client_pays_for_the_time_of_a_reading_beside_the_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shares = Shares(0.25)
    client = Clients(Proxies(()), None, 1, shares=shares).of(None, {}, "10.0.0.1")
    assert client is not None
    charged = list[str]()
    monkeypatch.setattr(shares, "charge", lambda address, seconds: charged.append(address))
    executor = Executor(documents(), timeout=60)
    context: Any = SimpleNamespace(again=None, fault=None, scanning=SimpleNamespace(used=0))
    await executor.run(long_text("a"), None, "no_such_operation", context, client=client)
    assert charged == ["10.0.0.1"]
