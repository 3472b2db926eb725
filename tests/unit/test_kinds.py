"""Each layer knows all kinds of objects: the stores, the loaders, the resolvers and the schema."""

from typing import Any, cast, get_args

import msgspec

from datasources.ids import Kind
from datasources.mappings import Mapping, lists_of_kind
from datasources.protocols import Stores
from datasources.records import RECORDS, OnBoard
from loaders import Loaders
from resolvers.visibility import RULES
from schema import OBJECTS


def test_each_layer_knows_all_kinds() -> None:
    kinds = set(Kind)
    assert set(RECORDS) == kinds
    assert set(Loaders(cast(Stores, None)).of_kinds) == kinds
    assert set(RULES) == kinds
    assert {type_.record for type_ in OBJECTS} == set(RECORDS.values())


def test_an_object_is_on_an_object_that_its_record_names() -> None:
    for kind, rule in RULES.items():
        if rule.on is not None:
            place, name = rule.on
            assert name == f"{place.name.lower()}_id"
            assert name in fields(RECORDS[kind])


def test_the_type_of_objects_on_boards_names_each_record_with_a_board() -> None:
    bound: Any = OnBoard.__bound__
    named = set(get_args(bound) or (bound,))
    assert named == {record for record in RECORDS.values() if "board_id" in fields(record)}


def test_each_mapping_has_the_lists_of_one_kind() -> None:
    lists = [mapping for kind in Kind for mapping in lists_of_kind(kind)]
    assert sorted(lists, key=lambda it: it.code) == list(Mapping)


def fields(record: type[msgspec.Struct]) -> set[str]:
    return {field.name for field in msgspec.structs.fields(record)}
