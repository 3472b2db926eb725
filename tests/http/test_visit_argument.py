"""`homeFeed` takes the name that it answers: `visitId`. The earlier name still works."""

from pathlib import Path
from typing import Any

import pytest

from tests.gateways import Gateway, embedded_gateway

pytestmark = pytest.mark.anyio


async def asked(gateway: Gateway, arguments: str) -> dict[str, Any]:
    query = f"{{ homeFeed(first: 1{arguments}) {{ visitId }} }}"
    return await gateway.ask(query, "ann")


async def test_a_visit_is_named_as_it_is_answered(tmp_path: Path) -> None:
    async with embedded_gateway(tmp_path) as gateway:
        await gateway.sign_up("ann")
        first, second = [
            (await asked(gateway, ""))["data"]["homeFeed"]["visitId"] for _ in range(2)
        ]
        assert first != second
        for arguments in (
            f', visitId: "{first}"',
            f', visit: "{first}"',
            f', visitId: "{first}", visit: "{first}"',
            f', visitId: null, visit: "{first}"',
            f', visitId: "{first}", visit: null',
        ):
            answer = await asked(gateway, arguments)
            assert answer == {"data": {"homeFeed": {"visitId": first}}}, arguments
        both = await asked(gateway, f', visitId: "{first}", visit: "{second}"')
        assert both["data"] == {"homeFeed": None}
        [error] = both["errors"]
        assert error["message"] == "visitId and visit name two visits: send visitId alone"
        assert error["extensions"] == {"code": "BAD_USER_INPUT", "field": "visitId"}
        for name in ("visitId", "visit"):
            [error] = (await asked(gateway, f', {name}: ""'))["errors"]
            assert error["message"] == "a visit is named by 1 to 64 printable ASCII characters"
            assert error["extensions"] == {"code": "BAD_USER_INPUT", "field": name}


async def test_the_earlier_name_is_deprecated(tmp_path: Path) -> None:
    async with embedded_gateway(tmp_path) as gateway:
        answer = await gateway.data(
            '{ __type(name: "Query") { fields { name args(includeDeprecated: true) '
            "{ name isDeprecated deprecationReason } } } }"
        )
    [field] = [one for one in answer["__type"]["fields"] if one["name"] == "homeFeed"]
    found = {one["name"]: one["deprecationReason"] for one in field["args"] if one["isDeprecated"]}
    assert found == {"visit": "Use `visitId`: the field's answer has that name."}
