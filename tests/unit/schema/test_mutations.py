"""Inputs and payloads of mutations have the same fields in `resolvers/` and in the schema."""

import dataclasses
import inspect
from typing import get_type_hints

import pytest

from resolvers.mutations import inputs as read
from resolvers.mutations import payloads as filled
from schema import inputs, payloads, schema


def names(type_: type) -> set[str]:
    return {field.name for field in dataclasses.fields(type_)}


@pytest.mark.parametrize("field", schema._schema.mutation_type.fields.values(), ids=str)  # type: ignore[union-attr]
def test_a_payload_has_the_fields_of_its_type(field: object) -> None:
    definition = field.extensions["strawberry-definition"]  # type: ignore[attr-defined]
    resolver = definition.metadata["resolver"].call
    shown = getattr(payloads, field.type.name)  # type: ignore[attr-defined]
    returned = get_type_hints(resolver, vars(filled))["return"]
    assert names(returned) == names(shown)


@pytest.mark.parametrize("name", [n for n, _ in inspect.getmembers(inputs, inspect.isclass)])
def test_an_input_has_the_fields_that_its_resolver_reads(name: str) -> None:
    type_ = getattr(inputs, name)
    if name.endswith("Input"):
        bases = [base for base in type_.__mro__ if base.__module__ == read.__name__]
        assert bases
        needed = {field for base in bases for field in inspect.get_annotations(base)}
        assert needed <= names(type_)
