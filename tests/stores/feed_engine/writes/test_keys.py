"""E-mail addresses, and users who sign in by a subject: keys that are added, changed and freed."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from datasources.errors import BadInput, Conflict, QuotaExceeded
from datasources.ids import Kind
from datasources.protocols import Stores
from datasources.records import User, decode
from feed_engine import writes
from feed_engine.outbox.completion import change_of, fulfill, settle
from feed_engine.transactions import access
from feed_engine.transactions.key_kinds import EMAIL, SUBJECT, USERNAME, KeyKind, subject_key
from tests.embedded_stores import drain
from tests.people import People
from tests.seams import Killed, Seam
from tests.stores.feed_engine.writes.test_user_names import people, stores

__all__ = ["people", "stores"]
pytestmark = pytest.mark.anyio
ANN, LEE = (subject_key("https://id.example/", name) for name in ("ann", "lee"))
Give = Callable[[Stores, User, str | None], Awaitable[User]]


async def give_email(stores: Stores, user: User, email: str | None, **options: Any) -> User:
    return await writes.change_email(stores, user.id, writes.EmailChange(email=email), **options)


async def give_subject(stores: Stores, user: User, subject: str | None, **options: Any) -> User:
    given = writes.SubjectChange(subject=subject)
    return await writes.change_subject(stores, user.id, given, **options)


async def sign_up(stores: Stores, name: str, subject: str = ANN) -> User:
    return await writes.sign_up(stores, writes.NewUser(username=name), subject=subject)


async def holder(stores: Stores, kind: KeyKind, key: str) -> int | None:
    return (await stores.shards.mod.find(kind.namespace, [key])).get(key)


async def active(stores: Stores) -> list[User]:
    found = await stores.shards.objects.list(Kind.USER, 0, 1000)
    users = [decode(Kind.USER, id, data) for id, data in found]
    return [user for user in users if isinstance(user, User) and user.active]


@pytest.mark.parametrize(
    ("kind", "give", "keys"),
    [(EMAIL, give_email, ("a@x.org", "b@x.org")), (SUBJECT, give_subject, (ANN, LEE))],
)
async def test_a_key_is_added_changed_removed_kept_for_30_days_and_freed(
    stores: Stores, people: People, kind: KeyKind, give: Give, keys: tuple[str, str]
) -> None:
    first, second = keys
    ann, bob = await people.user(), await people.user()
    assert kind.key_of(await give(stores, ann, first)) == first
    assert kind.key_of(await give(stores, ann, second)) == second
    after = await give(stores, ann, None)
    assert (kind.key_of(after), kind.all_of(after)) == ("", [first, second])
    assert after.username == ann.username
    for key in keys:
        assert await holder(stores, kind, key) == ann.id
        with pytest.raises(Conflict) as refused:
            await give(stores, bob, key)
        assert refused.value.field == kind.argument
    assert kind.key_of(await give(stores, ann, first)) == first  # the owner may go back
    await drain(stores)  # also the work of 30 days later
    [user] = (await access.read(stores, User, [ann.id])).values()
    assert (kind.key_of(user), kind.kept_of(user)) == (first, ())
    assert await holder(stores, kind, first) == ann.id
    assert await holder(stores, kind, second) is None
    await give(stores, bob, second)
    assert await holder(stores, kind, second) == bob.id
    assert await give(stores, user, first) == user  # the same key changes nothing


@pytest.mark.parametrize(
    ("kind", "give", "key"), [(EMAIL, give_email, "a@x.org"), (SUBJECT, give_subject, ANN)]
)
@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize(("seam", "number"), [("transact", 1), ("claim_at", 1), ("transact", 2)])
async def test_a_change_that_is_killed_after_any_step_is_repeated_or_leaves_nothing(
    stores: Stores,
    people: People,
    kind: KeyKind,
    give: Any,
    key: str,
    again: bool,
    seam: str,
    number: int,
) -> None:
    ann = await people.user()

    async def die() -> None:
        raise Killed

    with pytest.raises(Killed):
        await give(Seam(seam, number, die).of(stores, after=True), ann, key, key="k")
    await settle()
    if again:
        assert kind.key_of(await give(stores, ann, key, key="k")) == key
    await drain(stores)
    done = again or (seam, number) == ("transact", 2)
    user = await access.recall(stores, User, ann.id)
    assert await holder(stores, kind, key) == (ann.id if done else None)
    assert (kind.key_of(user), kind.kept_of(user)) == (key if done else "", ())


async def test_an_email_address_is_normalized(stores: Stores, people: People) -> None:
    ann, bob = await people.user(), await people.user()
    user = await give_email(stores, ann, " Ann.Lee@Mu\u0308sli.Example ")
    assert user.email == "Ann.Lee@m\u00fcsli.example"
    with pytest.raises(Conflict):
        await give_email(stores, bob, "Ann.Lee@M\u00dcSLI.example")
    await give_email(stores, bob, "ann.lee@m\u00fcsli.example")  # another mailbox, for some servers


@pytest.mark.parametrize(
    "text",
    ["a+b@x.org", "ann@\u0909\u0926\u093e\u0939\u0930\u0923.org", "\u00e4.b@xn--mxa.x--y.museum"],
)
async def test_an_address_of_any_language_is_kept_as_it_is(
    stores: Stores, people: People, text: str
) -> None:
    assert (await give_email(stores, await people.user(), text)).email == text


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "ann", "ann@", "@x.org", "ann@localhost", "a@b@c", "a b@x.org", '"a"@x.org'),
        *("a..b@x.org", ".a@x.org", "a.@x.org", "a@-x.org", "a@x-.org", "a@x..org", "a@[1.2.3.4]"),
        *("a@1.2.3.4", "a@x_y.org", "a\u200b@x.org", "a\n@x.org", "\ud800@x.org"),
        *("a" * 65 + "@x.org", "a@" + "x" * 64 + ".org", "a@" + "x." * 130 + "org"),
    ],
)
async def test_a_text_that_is_no_address_is_refused(
    stores: Stores, people: People, text: str
) -> None:
    ann = await people.user()
    with pytest.raises(BadInput) as refused:
        await give_email(stores, ann, text)
    assert refused.value.field == "email"
    assert (await access.recall(stores, User, ann.id)).kept_emails == ()


async def test_an_address_is_changed_a_few_times_a_day(stores: Stores, people: People) -> None:
    bounded = stores._replace(writes_per_day=10_000)
    ann = await people.user()
    for number in range(5):
        await give_email(bounded, ann, f"{number}@x.org")
    with pytest.raises(QuotaExceeded, match="more than 5 changes of the e-mail address"):
        await give_email(bounded, ann, "5@x.org")


async def test_a_deleted_account_keeps_its_keys_until_it_is_erased(
    stores: Stores, people: People
) -> None:
    ann = await sign_up(stores, "ann")
    for email in ("old@x.org", "new@x.org"):
        await give_email(stores, ann, email)
    await writes.delete_account(stores, ann.id, writes.Deletion(username="ann"))
    with pytest.raises(Conflict, match="30 days"):
        await sign_up(stores, "ann.two")
    for kind, key in ((EMAIL, "old@x.org"), (EMAIL, "new@x.org"), (SUBJECT, ANN)):
        assert await holder(stores, kind, key) == ann.id
    await drain(stores)
    for kind, key in ((EMAIL, "old@x.org"), (EMAIL, "new@x.org"), (SUBJECT, ANN)):
        assert await holder(stores, kind, key) is None
    stone = (await stores.shards.objects.get([ann.id]))[ann.id]
    assert b"x.org" not in stone
    assert b"id.example" not in stone
    assert (await sign_up(stores, "ann")).id != ann.id


async def test_a_subject_that_signs_up_again_gets_its_user(stores: Stores, people: People) -> None:
    ann = await sign_up(stores, "ann")
    assert (ann.subject, await holder(stores, SUBJECT, ANN)) == (ANN, ann.id)
    assert await sign_up(stores, "Ann") == ann
    with pytest.raises(Conflict, match="with the user name ann"):
        await sign_up(stores, "ann.two")
    await writes.change_user_name(stores, ann.id, writes.NameChange(username="ann.lee"))
    assert (await sign_up(stores, "ann")).id == ann.id  # a late repetition of the first sign-up
    assert await active(stores) == [await access.recall(stores, User, ann.id)]


async def test_no_key_of_a_client_finds_the_sign_up_of_a_subject(
    stores: Stores, people: People
) -> None:
    """The answer of a sign-up has the user's token."""
    ann = await sign_up(stores, "ann")
    for key in (f"{ANN}\n0\n0", f"\nann\n{ANN}\n0\n0", f"ann\n{ANN}\n0\n0"):
        with pytest.raises(Conflict):
            await writes.sign_up(stores, writes.NewUser(username="ann"), key=key)
    assert await active(stores) == [ann]


async def test_a_taken_name_leaves_the_subject_free(stores: Stores, people: People) -> None:
    await writes.sign_up(stores, writes.NewUser(username="ann"))
    for _ in range(2):
        with pytest.raises(Conflict) as refused:
            await sign_up(stores, "ann")
        assert refused.value.field == "username"
    assert await holder(stores, SUBJECT, ANN) is None
    assert (await sign_up(stores, "ann.two")).subject == ANN


async def test_of_sign_ups_of_one_subject_at_once_one_makes_a_user(
    stores: Stores, people: People
) -> None:
    names = ["ann", "ann", "ann.two", "ann.three", "ann"]
    found = await asyncio.gather(*(sign_up(stores, n) for n in names), return_exceptions=True)
    [user] = await active(stores)
    assert {it.id for it in found if isinstance(it, User)} == {user.id}
    assert all(isinstance(it, User | Conflict) for it in found)
    await drain(stores)
    assert await holder(stores, SUBJECT, ANN) == user.id
    free = {*names} - {user.username}
    assert await stores.shards.mod.find(USERNAME.namespace, sorted(free)) == {}


@pytest.mark.parametrize("again", [None, "ann", "ann.two"])
@pytest.mark.parametrize(("seam", "number"), [("transact", 1), ("claim_at", 1), ("claim_at", 2)])
async def test_a_sign_up_that_is_killed_after_any_step_makes_one_user(
    stores: Stores, people: People, seam: str, number: int, again: str | None
) -> None:
    async def die() -> None:
        raise Killed

    with pytest.raises(Killed):
        await sign_up(Seam(seam, number, die).of(stores, after=True), "ann")
    await settle()
    whole = (seam, number) == ("claim_at", 2)
    if again == "ann.two" and whole:
        with pytest.raises(Conflict):
            await sign_up(stores, again)
    elif again is not None:
        assert (await sign_up(stores, again)).username == again
    await drain(stores)
    [user] = await active(stores)
    assert user.username == ("ann" if whole or again is None else again)
    assert await holder(stores, SUBJECT, ANN) == user.id
    assert await stores.shards.mod.find(USERNAME.namespace, ["ann", "ann.two"]) == {
        user.username: user.id
    }


async def test_a_sign_up_that_lost_its_name_is_ended_by_its_row_after_a_crash(
    stores: Stores, people: People
) -> None:
    """The process dies before the claims, and somebody else takes the name."""

    async def die() -> None:
        raise Killed

    with pytest.raises(Killed):
        await sign_up(Seam("transact", 1, die).of(stores, after=True), "ann")
    other = await writes.sign_up(stores, writes.NewUser(username="ann"))
    await drain(stores)
    assert await active(stores) == [await access.recall(stores, User, other.id)]
    assert await holder(stores, SUBJECT, ANN) is None
    assert (await sign_up(stores, "ann.two")).subject == ANN


async def test_a_repeated_row_of_a_sign_up_changes_nothing_for_users_with_other_keys(
    stores: Stores, people: People
) -> None:
    async def die() -> None:
        raise Killed

    with pytest.raises(Killed):
        await sign_up(Seam("claim_at", 2, die).of(stores, after=True), "ann")
    await settle()
    [row] = await stores.shards.outbox.pending(2**62, 10)
    ann = await sign_up(stores, "ann")
    await fulfill(stores, change_of(row))
    await writes.change_user_name(stores, ann.id, writes.NameChange(username="ann.lee"))
    await fulfill(stores, change_of(row))
    await give_subject(stores, ann, LEE)
    await fulfill(stores, change_of(row))
    await drain(stores)
    bob = await sign_up(stores, "ann")  # the free name and the free subject
    for _ in range(2):
        await fulfill(stores, change_of(row))
        users = {user.id: user for user in await active(stores)}
        assert (users[ann.id].username, users[ann.id].subject) == ("ann.lee", LEE)
        assert (users[bob.id].username, users[bob.id].subject) == ("ann", ANN)
        for user in users.values():
            assert await holder(stores, USERNAME, user.username) == user.id
            assert await holder(stores, SUBJECT, user.subject) == user.id
