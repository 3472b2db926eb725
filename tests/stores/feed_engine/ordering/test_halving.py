"""Room for 83 drags into one millisecond's gap, whichever way they come."""

import pytest

from datasources.protocols import Stores
from tests.drags import WAYS, halve
from tests.people import People

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("way", WAYS)
async def test_a_milliseconds_gap_takes_83_drags_and_no_row_is_spread(
    stores: Stores, people: People, way: str
) -> None:
    await halve(stores, people, way)
