"""Rows of a dump: their columns, the fields that are left out, and damaged rows."""

import hashlib
import json
from datetime import datetime
from typing import Any

import msgspec
import pytest

from datasources import records
from datasources.ids import Kind, compose
from datasources.mappings import SEQUENCE_STEP, Mapping
from datasources.records import Image, Pin, User
from gateway.operate.dumps.periods import naming
from gateway.operate.dumps.rows import converted
from gateway.operate.dumps.tables import SCHEMA, TABLES

STAMP = b"2026-01-02T03:04:05.678Z"
DIGESTS = {1: "1a6f0f3b384a142e", 2: "b90b0c87b525aff4", 3: "a02c8c9e0efb5452"}
"""The columns of each SCHEMA: after a change of the columns, SCHEMA grows."""


def row(name: str, data: bytes, stamp: bytes | datetime = STAMP) -> dict[str, Any]:
    """The converted row of an object with local id 5 on shard 3."""
    found = converted(TABLES[name], 3, [(5, data, stamp, None)])
    names = [column.name for column in TABLES[name].columns]
    return {name: values[0] for name, values in zip(names, found.columns, strict=True)}


def test_the_columns_of_a_schema_do_not_change() -> None:
    told = {name: [msgspec.to_builtins(c) for c in t.columns] for name, t in TABLES.items()}
    digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
    assert DIGESTS[SCHEMA] == digest[:16]


def test_each_mapping_and_kind_is_a_table() -> None:
    assert len(TABLES) == len(Mapping) + len(Kind)


def test_a_pin_has_its_fields_in_columns() -> None:
    pin = Pin(
        board_id=7, owner_id=8, title="Tea", created=9, image=Image("/t.webp", 3), interest_ids=(1,)
    )
    found = row("pins", records.encode(pin))
    assert found["id"] == compose(3, Kind.PIN, 5)
    assert found["updated"] == 1_767_323_045_678
    assert (found["board_id"], found["owner_id"], found["title"]) == (7, 8, "Tea")
    assert (found["created"], found["interest_ids"], found["active"]) == (9, (1,), True)
    assert found["image"] == {"url": "/t.webp", "width": 3, "height": None, "color": None}
    assert found["link"] is found["other"] is found["fault"] is None


def test_a_time_of_writing_is_read_from_both_databases() -> None:
    naive = datetime(2026, 1, 2, 3, 4, 5, 678_000)
    data = records.encode(User(username="ann"))
    assert row("users", data, naive)["updated"] == row("users", data)["updated"]


def test_fields_that_the_schema_does_not_know_are_in_a_column() -> None:
    data = b'{"name":"Art","slug":"art","color":"red","shape":{"n":[1,2]}}'
    found = row("interests", data)
    assert json.loads(found["other"]) == {"color": "red", "shape": {"n": [1, 2]}}


def test_earlier_names_and_claims_of_a_user_are_left_out() -> None:
    data = b'{"username":"ann","claimed":3,"kept_names":[{"name":"old","version":1,"until":2}]}'
    found = row("users", data)
    assert "old" not in str(found)
    assert found["other"] is None
    assert not {"claimed", "kept_names"} & found.keys()


def test_a_deleted_object_keeps_ids_times_and_flags_alone() -> None:
    pin = Pin(
        board_id=7, owner_id=8, title="T", description="D", link="L", image=Image("I"), key="K",
        source_id=4, created=9, active=False,
    )  # fmt: skip
    raw = json.loads(records.encode(pin)) | {"new": "N"}
    found = row("pins", json.dumps(raw).encode())
    assert {found[name] for name in ("title", "description", "link", "key", "other")} == {None}
    assert found["image"] is None
    assert (found["board_id"], found["source_id"], found["created"]) == (7, 4, 9)
    assert found["active"] is False


@pytest.mark.parametrize("data", [b"{", b'{"title": 5}', b"[]", b'{"board_id":1,"owner_id":"x"}'])
def test_an_object_that_cannot_be_read_is_a_row_with_a_fault(data: bytes) -> None:
    found = converted(TABLES["pins"], 3, [(5, data, STAMP, None)])
    assert found.faults == 1
    assert found.times == (None,)
    told = row("pins", data)
    assert told["fault"]
    assert told["id"] == compose(3, Kind.PIN, 5)


@pytest.mark.parametrize(("created", "time"), [(0, None), (10**15, None), (-5, None), (7, 7)])
def test_a_time_out_of_range_is_none(created: int, time: int | None) -> None:
    data = records.encode(User(username="ann", created=created))
    assert converted(TABLES["users"], 3, [(5, data, STAMP, None)]).times == (time,)


def test_an_edge_has_the_time_of_its_sequence_unless_the_order_is_made_by_hand() -> None:
    sequence = 1_767_225_600_000 * SEQUENCE_STEP + 3
    for stored in (f"{sequence:038d}".encode(), sequence):
        edge = (1, 2, stored, 4, 0)
        liked = converted(TABLES["user_likes_pins"], 3, [edge])
        assert [values[0] for values in liked.columns] == [
            *(1, 2, sequence, 4, False, 1_767_225_600_000)
        ]
        assert liked.times == (1_767_225_600_000,)
        assert converted(TABLES["board_has_pins"], 3, [edge]).times == (None,)


def test_periods_are_named_in_utc() -> None:
    days = (0, 20_454, 20_484)
    assert [naming("day")(day) for day in days] == ["1970-01-01", "2026-01-01", "2026-01-31"]
    assert [naming("month")(day) for day in days] == ["1970-01", "2026-01", "2026-01"]
    assert [naming("year")(day) for day in days] == ["1970", "2026", "2026"]
