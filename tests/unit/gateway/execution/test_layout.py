"""Attributes read from their place in memory equal the attributes that Python reads, whatever
happens to the class."""

import gc
import sys
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import msgspec
import orjson
import pytest

from gateway.execution.levels.layout import found
from tests.unit.gateway.execution.leaves import Form

KNOWN = sys.version_info < (3, 14)
"""Whether CPython's place for the values of objects without slots is known."""


class Plain:
    def __init__(self, **values: Any) -> None:
        for name, value in values.items():
            setattr(self, name, value)


class Slots:
    __slots__ = ("a", "b")

    def __init__(self, a: str, b: str) -> None:
        self.b, self.a = b, a


class Struct(msgspec.Struct):
    a: str
    b: str


class Frozen(msgspec.Struct, frozen=True, gc=False):
    a: str
    b: str


@pytest.mark.parametrize("cls", [Slots, Struct, Frozen, type("Below", (Slots,), {"c": 1})])
def test_slots_have_an_offset(cls: Any) -> None:
    owner = cls(a="first", b="second")
    assert (found(owner, "a"), found(owner, "b")) == ("first", "second")


def test_inline_values_are_found_in_any_order_of_assignment() -> None:
    names = [f"n{number}" for number in range(20)]
    cls: Any = type("Many", (Plain,), {})
    first = cls(**{name: f"1 {name}" for name in names})
    second = cls(**{name: f"2 {name}" for name in reversed(names)})
    for name in names:
        assert found(first, name) == (f"1 {name}" if KNOWN else None)
        assert found(second, name) == (f"2 {name}" if KNOWN else None)


def test_a_default_of_the_class_is_covered_by_the_objects_own_value() -> None:
    cls: Any = type("Default", (Plain,), {"a": "default"})
    assert found(cls(a="own"), "a") == ("own" if KNOWN else None)
    assert found(cls(), "a") is None


def test_attributes_that_python_looks_up_elsewhere_have_no_offset() -> None:
    asked: Any = type("Asked", (Plain,), {"a": property(lambda _: "a property's")})
    kept: Any = type("Kept", (Plain,), {"a": property(lambda _: "its", lambda o, v: o.keep(v))})
    kept.keep = lambda owner, value: setattr(owner, "elsewhere", value)
    hooked: Any = type("Hooked", (Plain,), {"__getattribute__": lambda *_: "a hook's"})
    fallback: Any = type("Fallback", (Plain,), {"__getattr__": lambda *_: "a hook's"})
    later: Any = type("Later", (Plain,), {"a": cached_property(lambda _: "later")})
    later.a.__set_name__(later, "a")
    ended: Any = type("Ended", (Plain,), {"__del__": lambda _: None})
    below: Any = type("Integer", (int, Plain), {})
    owners = [asked(), kept(a="b"), hooked(a="b"), fallback(a="b"), later(), ended(a="b"), below()]
    assert [found(owner, "a") for owner in owners] == [None] * len(owners)
    assert found(1, "real") is None
    assert found(1j, "real") is None
    assert found(slice(1, 2), "start") is None
    assert found(SimpleNamespace(a="b"), "a") is None
    assert found(object(), "a") is None
    assert found(Slots, "__name__") is None


def test_a_slot_of_another_class_has_no_offset() -> None:
    other: Any = type("Other", (), {"__slots__": ("c", "d"), "a": vars(Slots)["a"]})
    owner = other()
    owner.c = owner.d = "another"
    with pytest.raises(TypeError):
        _ = owner.a
    assert found(owner, "a") is None


def test_a_slot_that_was_never_set_is_not_read() -> None:
    owner = Slots.__new__(Slots)
    assert found(owner, "a") is None


def form() -> Form:
    return Form(["a", "b"], ["String", "String"])


def shown(made: Form, *owners: Any) -> list[dict[str, str]]:
    read = made.read(owners)
    for _, _, value in read.unusual:
        if isinstance(value, Exception):
            raise value
    written: list[dict[str, str]] = orjson.loads(read.written())
    return written


def expected(*owners: Any) -> list[dict[str, str]]:
    return [{"a": owner.a, "b": owner.b} for owner in owners]


@pytest.fixture(params=[Plain, Slots, Struct])
def cls(request: pytest.FixtureRequest) -> Any:
    """A class of its own, to be changed."""
    base = request.param
    return type(base)("Own", (base,), {"__slots__": ()} if base is Slots else {})


def owners_of(cls: Any, count: int) -> list[Any]:
    return [cls(a=f"a{number}", b=f"b{number}") for number in range(count)]


@pytest.mark.parametrize("count", [1, 5, 13, 100])
def test_objects_of_one_class(cls: Any, count: int) -> None:
    made, owners = form(), owners_of(cls, count)
    for _ in range(3):
        assert shown(made, *owners) == expected(*owners)


def test_objects_of_several_classes_in_turn() -> None:
    others: list[Any] = [type(f"Plain{number}", (Plain,), {}) for number in range(20)]
    owners = [
        owner
        for number in range(3)
        for each in (Slots, Struct, *others)
        for owner in [each(b=f"b{number}", a=f"{each.__name__} {number}")]
    ]
    made = form()
    for _ in range(3):
        assert shown(made, *owners) == expected(*owners)


def test_an_object_whose_dict_was_read() -> None:
    made, owners = form(), owners_of(Plain, 20)
    assert shown(made, *owners) == expected(*owners)
    for owner in owners[::2]:
        owner.__dict__["a"] = "by its dict"
    assert shown(made, *owners) == expected(*owners)
    owners[1].__dict__ = {"b": "of another", "a": "dict"}
    assert shown(made, *owners) == expected(*owners)


def test_an_attribute_that_was_deleted(cls: Any) -> None:
    made, owners = form(), owners_of(cls, 3)
    assert shown(made, *owners) == expected(*owners)
    del owners[1].a
    with pytest.raises(AttributeError):
        shown(made, *owners)
    assert shown(made, owners[0], owners[2]) == expected(owners[0], owners[2])


def test_a_class_that_changes_between_two_objects(cls: Any) -> None:
    made, owners = form(), owners_of(cls, 10)
    assert shown(made, *owners) == expected(*owners)
    cls.a = property(lambda owner: f"of {owner.b}")
    assert shown(made, *owners) == expected(*owners)
    assert shown(made, owners[3]) == [{"a": "of b3", "b": "b3"}]
    del cls.a
    assert shown(made, *owners) == expected(*owners)
    cls.__getattribute__ = lambda owner, name: f"any {name}"
    assert shown(made, owners[3]) == [{"a": "any a", "b": "any b"}]


def test_a_base_that_changes() -> None:
    base: Any = type("Base", (Plain,), {})
    cls: Any = type("Above", (base,), {})
    made, owners = form(), owners_of(cls, 3)
    assert shown(made, *owners) == expected(*owners)
    base.b = property(lambda owner: f"of {owner.a}")
    assert shown(made, owners[2]) == [{"a": "a2", "b": "of a2"}]


def test_a_class_that_changes_while_an_object_is_written() -> None:
    cls: Any = type("Changing", (Plain,), {})

    def change(value: str) -> str:
        cls.b = property(lambda owner: "changed")
        return value

    made = Form(["a", "b"], ["other", "String"], shown=change)
    assert shown(form(), *owners_of(cls, 2)) == expected(*owners_of(cls, 2))
    assert shown(made, *owners_of(cls, 2)) == [
        {"a": "a0", "b": "changed"},
        {"a": "a1", "b": "changed"},
    ]


def test_a_class_at_the_address_of_a_freed_class() -> None:
    made = form()
    for number in range(50):
        names = ("a", "b", "c")[:: 1 if number % 2 else -1]
        cls: Any = type("Passing", (Plain,), {})
        owner = cls(**{name: f"{name}{number}" for name in names})
        assert shown(made, owner) == expected(owner)


def test_reading_leaves_the_reference_counts_unchanged() -> None:
    made = form()
    text = "".join(["a", "value"])
    owners = [Plain(a=text, b="b") for _ in range(10)]
    made.read(owners).written()
    gc.collect()  # tables have reference cycles
    before = sys.getrefcount(text)
    for number in range(100):
        made.read(owners).written()
        made.read(owners).more([*owners, Plain(a=text, b=number)])
    gc.collect()
    assert sys.getrefcount(text) == before


def test_a_class_attribute_that_becomes_a_data_descriptor_takes_precedence() -> None:
    class Kept:
        def __get__(self, *_: Any) -> str:
            return "the class's"

    cls: Any = type("Later", (Plain,), {"a": Kept()})
    owner = cls(a="own")
    form = Form(["a"], ["String"])
    assert shown(form, owner, owner) == [{"a": "own"}] * 2
    Kept.__set__ = lambda *_: None  # type: ignore[attr-defined]
    assert owner.a == "the class's"
    assert shown(form, owner) == [{"a": "the class's"}]
