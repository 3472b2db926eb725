"""A drag that stops at each of its seams, while something else is done to its board."""

import pytest

from datasources.protocols import Stores
from tests.interleaving import SECOND, interleave
from tests.people import People

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("second", SECOND)
async def test_a_drag_and_another_write_end_as_one_after_the_other(
    stores: Stores, people: People, second: str
) -> None:
    assert await interleave(people, SECOND[second]) > 20
