"""A bound on the errors changes nothing else: generated operations have the same data, the same
first errors, and a true count of all others."""

import asyncio

from graphql import GraphQLError

from tests.execution.comparing import ended, leftovers, new_case, new_engine, settled
from tests.execution.drawing import Seeded
from tests.execution.reference import identity
from tests.scale import scaled

WORLDS, CASES = scaled(4, 12), 25


async def bounded(world: int, index: int) -> int:
    """Compare one case without and with bounds. Returns the number of its errors."""
    place = settled(Seeded(f"bounded-{world}"), new_engine)
    case = new_case(Seeded(f"bounded-{world}/{index}"), place)
    case.mode, case.cut = "", None
    name = case.operation.name
    whole = await ended(place.engine.compile(case.document, name), place.run(), case)
    await leftovers()
    if whole.how != "answered" or not whole.started:
        return 0
    for most in {1, len(whole.errors) // 2, len(whole.errors) - 1} - {0, -1}:
        engine = new_engine(place.schema, most)
        part = await ended(engine.compile(case.document, name), place.run(), case)
        await leftovers()
        assert part.how == whole.how
        assert part.data == whole.data
        told: list[GraphQLError] = part.errors
        if len(whole.errors) > most:
            *told, last = told
            assert last.extensions["leftOut"] == len(whole.errors) - most
        assert list(map(identity, told)) == list(map(identity, whole.errors[:most]))
    return len(whole.errors)


def test_a_bound_keeps_the_first_errors_and_all_nulls() -> None:
    async def all_cases() -> list[int]:
        return [await bounded(world, index) for world in range(WORLDS) for index in range(CASES)]

    found = asyncio.run(all_cases())
    assert sum(count > 1 for count in found) > scaled(6, 20), found
