"""`updateProfile` over the endpoint, and as every reader sees it."""

from collections.abc import AsyncIterator

import pytest

from tests.gateways import Gateway, embedded_gateway

pytestmark = pytest.mark.anyio
PROFILE = "user { username fullName about avatar { url width } }"


@pytest.fixture(scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Gateway]:
    async with embedded_gateway(tmp_path_factory.mktemp("data")) as gateway:
        await gateway.sign_up("ann", "bob")
        yield gateway


async def test_a_changed_profile_is_read_by_everybody_at_once(gateway: Gateway) -> None:
    query = '{ user(username: "ann") { fullName about avatar { url width } } }'
    await gateway.data(query, "bob")  # now caches have the profile
    avatar = {"url": "https://pictures.example/ann.png", "width": 64}
    payload = await gateway.mutate(
        "ann", "updateProfile", PROFILE, fullName="Ann B.", about="Bread.", avatar=avatar
    )
    wanted = {"fullName": "Ann B.", "about": "Bread.", "avatar": avatar}
    assert payload["user"] == {"username": "ann", **wanted}
    for viewer in (None, "bob", "ann"):
        assert (await gateway.data(query, viewer))["user"] == wanted


async def test_an_absent_field_stays_and_a_null_clears(gateway: Gateway) -> None:
    await gateway.mutate("bob", "updateProfile", PROFILE, fullName="Bob", about="Bread.")
    payload = await gateway.mutate("bob", "updateProfile", PROFILE, about=None)
    assert (payload["user"]["fullName"], payload["user"]["about"]) == ("Bob", "")
    payload = await gateway.mutate("bob", "updateProfile", PROFILE)
    assert payload["user"]["fullName"] == "Bob"


async def test_a_wrong_picture_is_told_by_its_field(gateway: Gateway) -> None:
    payload = await gateway.try_to(
        "ann", "updateProfile", PROFILE, avatar={"url": "ftp://pictures.example/x"}
    )
    assert payload["user"] is None
    assert [(error["code"], error["field"]) for error in payload["errors"]] == [
        ("BAD_USER_INPUT", "avatar.url")
    ]


async def test_a_stranger_has_no_profile(gateway: Gateway) -> None:
    answer = await gateway.ask('mutation { updateProfile(input: {about: "x"}) { user { id } } }')
    assert answer["data"] == {"updateProfile": None}
    assert answer["errors"][0]["extensions"]["code"] == "UNAUTHENTICATED"
