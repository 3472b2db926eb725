"""Users who sign in by the subject of another issuer's token, and the private fields of users."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from datasources.errors import StoreUnavailable
from datasources.protocols import Stores
from feed_engine import writes
from feed_engine.transactions.key_kinds import subject_key
from gateway.app import create_site
from gateway.http import subjects
from gateway.http.auth import CLOSED, Token
from gateway.http.subjects import Subjects
from gateway.settings import Settings, read_settings
from gateway.site.runtime import running
from tests.embedded_stores import drain, patient_stores
from tests.http.test_admin import client
from tests.issuer import ALL, NAME, OTHER, signed
from tests.live_gateways import live_gateway

pytestmark = pytest.mark.anyio
SUB = "auth0|5f7c8ec7c33c6c004bbafe82"
VIEWER = "{ viewer { id username email issuer } }"
SIGN_UP = """mutation ($input: SignUpInput!) {
    signUp(input: $input) { user { id username } token errors { code field message } }
}"""


@dataclass
class Api:
    client: httpx.AsyncClient
    stores: Stores

    async def post(self, query: str, authorization: str = "", **input: Any) -> httpx.Response:
        headers = {"authorization": authorization} if authorization else {}
        body = {"query": query, "variables": {"input": input} if input else {}}
        return await self.client.post("/graphql", json=body, headers=headers)

    async def data(self, query: str, authorization: str = "", **input: Any) -> Any:
        answer = (await self.post(query, authorization, **input)).json()
        assert "errors" not in answer, answer
        return answer["data"]

    async def viewer(self, authorization: str) -> Any:
        return (await self.data(VIEWER, authorization))["viewer"]

    async def sign_up(self, authorization: str = "", **input: Any) -> Any:
        return (await self.data(SIGN_UP, authorization, **input))["signUp"]

    async def mutate(self, field: str, authorization: str, **input: Any) -> Any:
        """The user and the codes of the errors in a mutation's payload."""
        name = f"{field[0].upper()}{field[1:]}"
        query = f"""mutation ($input: {name}Input!) {{
            {field}(input: $input) {{ user {{ username email issuer }} errors {{ code field }} }}
        }}"""
        if not input:
            query = query.replace("$input)", "{})").replace(f"($input: {name}Input!) ", "")
        payload = (await self.data(query, authorization, **input))[field]
        return payload["user"] if not payload["errors"] else payload["errors"]


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[Api]:
    keys = tmp_path / "keys.json"
    keys.write_bytes(ALL)
    values = {"auth.issuer": NAME, "auth.keys": str(keys), "auth.subjects": True}
    settings = read_settings(options={"data_dir": tmp_path / "data", **values})
    async with AsyncExitStack() as stack:
        yield await opened(stack, settings)


async def opened(stack: AsyncExitStack, settings: Settings) -> Api:
    opening = running(settings, jobs=False, create=lambda progress: None)
    runtime = await stack.enter_async_context(opening)
    site = create_site(settings, runtime)
    return Api(await stack.enter_async_context(client(site.public)), runtime.stores)


async def test_a_subject_without_a_user_signs_up_once_and_is_signed_in_from_then_on(
    api: Api,
) -> None:
    token = signed(sub=SUB)
    assert await api.viewer(token) is None
    new = {"username": "ann", "fullName": "Ann", "idempotencyKey": "k" * 20}
    first = await api.sign_up(token, **new)
    assert (first["user"]["username"], first["token"], first["errors"]) == ("ann", None, [])
    ann = {"id": first["user"]["id"], "username": "ann", "email": None, "issuer": NAME}
    for authorization in (token, signed("RS256", sub=SUB)):
        assert await api.viewer(authorization) == ann
    assert await api.sign_up(token, **new) == first  # the answer was lost
    assert await api.sign_up(signed("EdDSA", sub=SUB), username="Ann") == first
    [error] = (await api.sign_up(token, username="ann.two"))["errors"]
    assert (error["code"], error["field"]) == ("CONFLICT", "username")
    [error] = (await api.sign_up(signed(sub="other"), username="ann"))["errors"]
    assert (error["code"], error["field"]) == ("CONFLICT", "username")
    assert await api.viewer(signed(sub="other")) is None


@pytest.mark.parametrize("sub", ["", "x" * 256, None])
async def test_a_subject_has_1_to_255_characters(api: Api, sub: str | None) -> None:
    answer = await api.post(VIEWER, signed(sub=sub))
    assert answer.status_code == 401
    assert "sub" in answer.json()["errors"][0]["message"]


async def test_a_subject_that_looks_like_an_id_names_no_user_by_it(api: Api) -> None:
    ann = await api.sign_up(username="ann")
    assert await api.viewer(signed(sub=ann["user"]["id"])) is None


async def test_a_claim_with_ids_comes_before_the_subject(tmp_path: Path) -> None:
    keys = tmp_path / "keys.json"
    keys.write_bytes(ALL)
    values = {"auth.issuer": NAME, "auth.keys": str(keys), "auth.subjects": True}
    values["auth.user_claim"] = "pinway_user"
    settings = read_settings(options={"data_dir": tmp_path / "data", **values})
    async with AsyncExitStack() as stack:
        api = await opened(stack, settings)
        ann = await api.sign_up(username="ann")
        named = signed(sub=SUB, pinway_user=ann["user"]["id"])
        assert (await api.viewer(named))["username"] == "ann"
        assert await api.viewer(signed(sub=SUB)) is None
        await api.sign_up(signed(sub=SUB), username="bob")
        assert (await api.viewer(signed(sub=SUB)))["username"] == "bob"


async def test_a_user_links_and_unlinks_a_subject(api: Api) -> None:
    own = f"Bearer {(await api.sign_up(username='ann'))['token']}"
    token = signed(sub=SUB)
    raw = token.removeprefix("Bearer ")
    linked = await api.mutate("linkSubject", own, token=raw)
    assert linked == {"username": "ann", "email": None, "issuer": NAME}
    assert (await api.viewer(token))["username"] == "ann"
    other = signed(sub="other")
    await api.mutate("linkSubject", own, token=other.removeprefix("Bearer "))
    assert await api.viewer(token) is None  # at once, though the look-up was cached
    assert (await api.viewer(other))["username"] == "ann"
    [error] = await api.mutate("unlinkSubject", other)
    assert error["code"] == "FORBIDDEN"
    assert (await api.mutate("unlinkSubject", own))["issuer"] is None
    assert await api.viewer(other) is None
    for kept in (token, other):
        [error] = (await api.sign_up(kept, username="bob"))["errors"]
        assert (error["code"], error["field"]) == ("CONFLICT", None)
    bob = f"Bearer {(await api.sign_up(username='bob'))['token']}"
    [error] = await api.mutate("linkSubject", bob, token=raw)
    assert error == {"code": "CONFLICT", "field": "token"}
    await drain(api.stores)  # also the work of 30 days later
    assert (await api.mutate("linkSubject", bob, token=raw))["issuer"] == NAME
    assert (await api.viewer(token))["username"] == "bob"


async def test_a_token_that_proves_no_subject_is_not_linked(api: Api) -> None:
    own = (await api.sign_up(username="ann"))["token"]
    expired = signed(sub=SUB, exp=1).removeprefix("Bearer ")
    forged = signed(private=OTHER, sub=SUB).removeprefix("Bearer ")
    for token in (own, "x", expired, forged, signed(sub=SUB, aud="x").removeprefix("Bearer ")):
        [error] = await api.mutate("linkSubject", f"Bearer {own}", token=token)
        assert error == {"code": "BAD_USER_INPUT", "field": "token"}
    assert await api.viewer(signed(sub=SUB)) is None


async def test_a_deleted_account_is_refused_until_the_subject_is_free(api: Api) -> None:
    token = signed(sub=SUB)
    await api.sign_up(token, username="ann")
    deleting = 'mutation { deleteAccount(input: {username: "ann"}) { deletedUserId } }'
    for _ in range(2):  # the first answer was lost
        deleted = (await api.data(deleting, token))["deleteAccount"]
        assert deleted["deletedUserId"]
    assert (await api.post(VIEWER, token)).status_code == 401
    await drain(api.stores)
    assert await api.viewer(token) is None
    again = await api.sign_up(token, username="ann")
    assert again["user"]["id"] != deleted["deletedUserId"]


async def test_only_the_viewer_sees_the_address_and_the_issuer(api: Api) -> None:
    token = signed(sub=SUB)
    await api.sign_up(token, username="ann")
    bob = f"Bearer {(await api.sign_up(username='bob'))['token']}"
    changed = await api.mutate("changeEmail", token, email="Ann@X.ORG")
    assert changed["email"] == "Ann@x.org"
    of_ann = '{ user(username: "ann") { email issuer } }'
    shown = {"email": "Ann@x.org", "issuer": NAME}
    assert (await api.data(of_ann, token))["user"] == shown
    for other in (bob, ""):
        assert (await api.data(of_ann, other))["user"] == {"email": None, "issuer": None}
    [error] = await api.mutate("changeEmail", bob, email="Ann@x.org")
    assert error == {"code": "CONFLICT", "field": "email"}
    assert (await api.mutate("changeEmail", token, email=None))["email"] is None


async def test_a_user_is_looked_up_once_and_after_each_change(api: Api) -> None:
    asked: list[str] = []
    shards = api.stores.shards

    async def find(namespace: str, keys: Sequence[str]) -> dict[str, int]:
        asked.extend(keys)
        return await shards.mod.find(namespace, keys)

    counting: Any = SimpleNamespace(objects=shards.objects, mod=SimpleNamespace(find=find))
    found = Subjects(api.stores._replace(shards=counting))
    key, token = subject_key(NAME, SUB), signed(sub=SUB)
    unnamed = Token(None, 0, 0, subject=key)
    assert (await found.named(unnamed)).viewer_id is None
    ann = int((await api.sign_up(token, username="ann"))["user"]["id"])
    for _ in range(3):
        assert (await found.named(unnamed)).viewer_id == ann
    assert asked == [key, key]  # before the sign-up, and after it
    other = signed(sub="other").removeprefix("Bearer ")
    await api.mutate("linkSubject", token, token=other)
    assert (await found.named(unnamed)).viewer_id is None
    assert asked == [key, key, key]


async def test_the_subjects_that_are_kept_are_bounded(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subjects, "KEPT", 2)
    found = Subjects(api.stores)
    for name in ("ann", "bob", "cat"):
        await api.sign_up(signed(sub=name), username=name)
        named = await found.named(Token(None, 0, 0, subject=subject_key(NAME, name)))
        assert named.viewer_id is not None
    assert list(found._known) == [subject_key(NAME, name) for name in ("bob", "cat")]


async def test_clients_stay_signed_in_while_a_mod_shard_is_away(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(self: Subjects, token: Token) -> Token:
        raise StoreUnavailable("server one at 10.0.0.1 is away")

    monkeypatch.setattr(Subjects, "named", away)
    answer = await api.post(VIEWER, signed(sub=SUB))
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    [error] = answer.json()["errors"]
    assert error["extensions"]["code"] == "UNAVAILABLE"
    assert "10.0.0.1" not in error["message"]


async def test_streams_of_a_subject_end_when_it_is_unlinked_and_others_stay(
    tmp_path: Path,
) -> None:
    keys = tmp_path / "keys.json"
    keys.write_bytes(ALL)
    values = {"auth.issuer": NAME, "auth.keys": str(keys), "auth.subjects": True}
    token = {"authorization": signed(sub=SUB)}
    stranger = {"authorization": signed(sub="stranger")}
    with patient_stores():
        async with live_gateway(tmp_path / "data", values) as gateway:
            await gateway.sign_up("ann")
            ann, stores = gateway.people["ann"], gateway.stores
            given = writes.SubjectChange(subject=subject_key(NAME, SUB))
            await writes.change_subject(stores, ann, given)
            async with (
                gateway.socket(init=token) as by_subject,
                gateway.socket("ann") as own,
                gateway.socket(init=stranger) as other,
            ):
                await writes.change_subject(stores, ann, writes.SubjectChange(subject=None))
                assert await by_subject.closed() == (4403, f"Forbidden: {CLOSED}")
                for socket in (own, other):
                    await socket.say(type="ping")
                    assert await socket.hear() == {"type": "pong"}
