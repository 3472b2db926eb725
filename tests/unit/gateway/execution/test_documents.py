"""Documents are kept by text, within a number and a sum of bytes."""

import gc
import tracemalloc

import pytest
from graphql import GraphQLError, get_introspection_query

from gateway.execution.documents import Document, Documents, Operation
from schema import schema
from tests.unit.test_architecture import ROOT

SAMPLES = sorted((ROOT / "gateway/samples").glob("*.graphql"))


def documents(size: int = 10, max_bytes: int = 10**9) -> Documents:
    return Documents(schema._schema, size=size, max_bytes=max_bytes, max_tokens=5_000, max_depth=16)


def test_a_text_is_read_once() -> None:
    cache = documents()
    assert cache.get("{viewer{id}}") is cache.get("{viewer{id}}")
    assert (cache.stats.hits, cache.stats.misses, cache.stats.documents) == (1, 1, 1)


def test_the_least_recently_used_goes_first() -> None:
    cache = documents(size=2)
    kept = cache.get("{a:__typename}")
    cache.get("{b:__typename}")
    cache.get("{a:__typename}")
    cache.get("{c:__typename}")
    assert cache.get("{a:__typename}") is kept
    assert (cache.stats.evictions, cache.stats.documents) == (1, 2)


def test_bytes_are_bounded() -> None:
    one = documents().get("{a:__typename}").bytes
    cache = documents(max_bytes=one * 3)
    for name in "abcdefgh":
        cache.get(f"{{{name}:__typename}}")
    assert cache.stats.bytes == one * 3
    assert cache.stats.documents == 3
    cache.get("{" + " ".join(f"a{n}:__typename" for n in range(100)) + "}")
    assert cache.stats.documents == 3  # it alone is more than the cache may hold


def test_an_unknown_operation_is_not_kept() -> None:
    document = documents().get("query A{__typename} query B{__typename}")
    assert isinstance(document.operation("A"), Operation)
    for name in (None, "C", "D"):
        assert isinstance(document.operation(name), GraphQLError)
    assert len(document._operations) == 1


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_samples_are_compiled(path: object) -> None:
    found = documents().get(path.read_text()).operation(None)  # type: ignore[attr-defined]
    assert isinstance(found, Operation)
    assert found.plan.fallback is None


def test_a_document_takes_about_what_is_said() -> None:
    def compiled(cache: Documents, text: str) -> Document:
        document = cache.get(text)
        found = document.operation(None)
        assert isinstance(found, Operation)
        variant = found.plan._variant({})
        assert variant is not None
        left = list(variant.steps)
        while left:
            for field in left.pop().fields:
                completer = field.completer
                while hasattr(completer, "item"):
                    completer = completer.item
                assert field.source is not None
                for type_ in [getattr(completer, "type", None)]:
                    if hasattr(type_, "fields") and hasattr(type_, "is_type_of"):
                        left.append(completer.selection(type_))  # type: ignore[union-attr]
                        assert left[-1].build is not None
        return document

    for text in [SAMPLES[0].read_text(), SAMPLES[1].read_text(), get_introspection_query()]:
        compiled(documents(), text)
        cache = documents(size=100)
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        said = sum(compiled(cache, text + " " * n).bytes for n in range(8))
        gc.collect()
        taken = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        assert 0.4 < said / taken < 2.5, (said, taken)
