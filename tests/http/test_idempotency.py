"""A mutation that is sent again with its key changes nothing, and returns the same answer."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.gateways import Gateway, embedded_gateway

pytestmark = pytest.mark.anyio
LIKED = "pin { likeCount } likedPinEdge { cursor } likerEdge { cursor } unlikedPinId"


@pytest.fixture(scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Gateway]:
    async with embedded_gateway(tmp_path_factory.mktemp("data")) as gateway:
        await gateway.sign_up("ann", "bob")
        yield gateway


async def twice(gateway: Gateway, viewer: str, field: str, selection: str, **input: Any) -> Any:
    """The payload, which must be the same twice."""
    key = f"{field}-{sorted(input.items())}"[:200]
    first = await gateway.mutate(viewer, field, selection, idempotencyKey=key, **input)
    again = await gateway.mutate(viewer, field, selection, idempotencyKey=key, **input)
    assert again == first
    return first


async def test_every_kind_of_mutation_answers_the_same_again(gateway: Gateway) -> None:
    made = await twice(
        gateway,
        "ann",
        "createBoard",
        "board { id name } boardEdge { cursor node { id } } user { boardCount }",
        name="Cats",
    )
    assert made["user"]["boardCount"] == 1
    board = made["board"]["id"]
    pins = []
    for title in ("one", "two", "three"):
        selection = "pin { id title } pinEdge { cursor } board { pinCount }"
        pin = await twice(gateway, "ann", "createPin", selection, boardId=board, title=title)
        pins.append(pin["pin"]["id"])
        assert pin["board"]["pinCount"] == len(pins)
    one, two, three = pins
    await twice(gateway, "ann", "updateProfile", "user { fullName }", fullName="Ann")
    await twice(gateway, "ann", "updateBoard", "board { name }", boardId=board, name="Dogs")
    await twice(gateway, "ann", "updatePin", "pin { title link }", pinId=one, title="first")
    parts = []
    for name in ("Small", "Large", "Old"):
        selection = (
            "section { id name } sectionEdge { cursor } board { sections { edges { cursor } } }"
        )
        made = await twice(gateway, "ann", "createSection", selection, boardId=board, name=name)
        parts.append(made["section"]["id"])
    small, large, old = parts
    selection = "pin { id } pinEdge { cursor } sectionEdge { cursor }"
    given = {"boardId": board, "sectionId": large}
    made = await twice(gateway, "ann", "createPin", selection, title="in a section", **given)
    await twice(gateway, "ann", "repin", selection, pinId=made["pin"]["id"], **given)
    await twice(gateway, "ann", "renameSection", "section { name }", sectionId=small, name="Tiny")
    selection = "section { id } sectionEdge { cursor } aboveSection { id } belowSection { id }"
    await twice(gateway, "ann", "reorderSection", selection, sectionId=small, afterSectionId=large)
    selection = "pin { section { id } } pinEdge { cursor } toSection { pinCount } removedPinId"
    put = await twice(gateway, "ann", "movePinToSection", selection, pinId=one, sectionId=small)
    assert put["toSection"]["pinCount"] == 1
    selection = "deletedSectionId board { sections { edges { node { id } } } }"
    gone = await twice(gateway, "ann", "deleteSection", selection, sectionId=old)
    assert len(gone["board"]["sections"]["edges"]) == 2
    liked = await twice(gateway, "bob", "likePin", LIKED, pinId=one)
    assert liked["pin"]["likeCount"] == 1
    await twice(gateway, "bob", "unlikePin", LIKED, pinId=one)
    order = "pinEdge { cursor } board { pins { edges { node { id } } } }"
    await twice(gateway, "ann", "reorderPin", order, boardId=board, pinId=one, afterPinId=three)
    said = await twice(
        gateway, "bob", "createComment", "comment { id } pin { commentCount }", pinId=two, text="hi"
    )
    assert said["pin"]["commentCount"] == 1
    comment = said["comment"]["id"]
    await twice(
        gateway,
        "bob",
        "deleteComment",
        "deletedCommentId pin { commentCount }",
        commentId=comment,
    )
    own = await gateway.board("bob", "Own")
    await twice(gateway, "bob", "repin", "pin { id source { id } }", pinId=two, boardId=own)
    ann = str(gateway.people["ann"])
    await twice(gateway, "bob", "followUser", "user { followerCount }", userId=ann)
    await twice(gateway, "bob", "unfollowUser", "user { followerCount }", userId=ann)
    await twice(gateway, "bob", "followBoard", "board { followerCount }", boardId=board)
    await twice(gateway, "bob", "unfollowBoard", "board { followerCount }", boardId=board)
    bob, role = str(gateway.people["bob"]), "board { viewerRole } viewer { id }"
    member = {"boardId": board, "userId": bob}
    invited = "board { invitedUsers { edges { cursor node { id } } } } user { id }"
    await twice(gateway, "ann", "inviteCollaborator", invited, **member)
    await twice(gateway, "bob", "acceptInvitation", role, boardId=board)
    await twice(gateway, "bob", "leaveBoard", role, boardId=board)
    again = {**member, "idempotencyKey": "again"}
    await gateway.mutate("ann", "inviteCollaborator", invited, **again)
    await twice(gateway, "bob", "declineInvitation", role, boardId=board)
    await twice(gateway, "ann", "removeCollaborator", invited, **member)
    await twice(gateway, "bob", "muteUser", "mutedUserId user { viewerMutes }", userId=ann)
    await twice(gateway, "bob", "unmuteUser", "unmutedUserId user { viewerMutes }", userId=ann)
    blocked = "blockedUser { username } blockedUserEdge { cursor }"
    await twice(gateway, "bob", "blockUser", blocked, userId=ann)
    await twice(gateway, "bob", "unblockUser", "unblockedUserId user { username }", userId=ann)
    seen = [{"pinId": two, "kind": "SEEN"}]
    await twice(gateway, "bob", "recordEvents", "", events=seen)
    await twice(gateway, "bob", "deleteEvents", "")
    await twice(gateway, "bob", "createUpload", "url expires")
    await twice(gateway, "bob", "requestMyData", "user { dataExport { state requestedAt } }")
    await twice(gateway, "bob", "report", "reportedId", id=ann, reason="SPAM")
    await twice(gateway, "ann", "markNotificationsRead", "unreadNotificationCount")
    await twice(gateway, "ann", "deletePin", "deletedPinId board { pinCount }", pinId=three)
    gone = await twice(
        gateway, "ann", "deleteBoard", "deletedBoardId user { boardCount }", boardId=board
    )
    assert gone["user"]["boardCount"] == 0
    await gateway.sign_up("dora")
    await twice(gateway, "dora", "signOutEverywhere", "")
    await twice(gateway, "dora", "changeUserName", "user { id username }", username="dora.two")
    await twice(gateway, "dora", "changeEmail", "user { id email }", email="dora@example.org")
    await twice(gateway, "dora", "unlinkSubject", "user { id issuer }")
    await twice(gateway, "dora", "deleteAccount", "deletedUserId", username="dora.two")


async def test_a_repeated_answer_does_not_show_what_was_deleted_since(gateway: Gateway) -> None:
    given = {"name": "Short-lived", "idempotencyKey": "short"}
    made = await gateway.mutate("ann", "createBoard", "board { id }", **given)
    board = made["board"]["id"]
    saved = {"boardId": board, "title": "gone", "idempotencyKey": "gone"}
    pin = await gateway.mutate("ann", "createPin", "pin { id }", **saved)
    await gateway.mutate("ann", "deletePin", "deletedPinId", pinId=pin["pin"]["id"])
    again = await gateway.mutate("ann", "createPin", "pin { id } pinEdge { cursor }", **saved)
    assert again == {"pin": None, "pinEdge": None, "errors": []}
    await gateway.mutate("ann", "deleteBoard", "deletedBoardId", boardId=board)
    again = await gateway.mutate("ann", "createBoard", "board { id } boardEdge { cursor }", **given)
    assert again == {"board": None, "boardEdge": None, "errors": []}


async def test_an_answer_to_a_change_sent_again_after_a_deletion_has_nulls(
    gateway: Gateway,
) -> None:
    board = await gateway.board("ann", "A")
    pin = await gateway.pin("ann", board, "a")
    changes: list[tuple[str, str, dict[str, Any]]] = [
        ("createComment", "comment", {"pinId": pin, "text": "mine"}),
        ("updatePin", "pin", {"pinId": pin, "title": "b"}),
        ("updateBoard", "board", {"boardId": board, "name": "B"}),
    ]
    for mutation, name, given in changes:
        given["idempotencyKey"] = mutation
        first = await gateway.mutate("ann", mutation, f"{name} {{ id }}", **given)
        assert first[name] is not None
        if mutation == "createComment":
            comment = first[name]["id"]
            await gateway.mutate("ann", "deleteComment", "deletedCommentId", commentId=comment)
            again = await gateway.mutate(
                "ann", mutation, "comment { id } commentEdge { cursor } pin { id }", **given
            )
            assert again == {"comment": None, "commentEdge": None, "pin": {"id": pin}, "errors": []}
    await gateway.mutate("ann", "deletePin", "deletedPinId", pinId=pin)
    again = await gateway.mutate("ann", "updatePin", "pin { id }", **changes[1][2])
    assert again == {"pin": None, "errors": []}
    await gateway.mutate("ann", "deleteBoard", "deletedBoardId", boardId=board)
    again = await gateway.mutate("ann", "updateBoard", "board { id }", **changes[2][2])
    assert again == {"board": None, "errors": []}


async def test_a_key_used_for_another_input_is_the_clients_mistake(gateway: Gateway) -> None:
    await gateway.mutate("ann", "createBoard", "board { id }", name="A", idempotencyKey="k")
    wrong = await gateway.try_to("ann", "createBoard", "board { id }", name="B", idempotencyKey="k")
    assert [(e["code"], e["field"]) for e in wrong["errors"]] == [
        ("BAD_USER_INPUT", "idempotencyKey")
    ]


async def test_a_sign_up_sent_again_is_the_same_user(gateway: Gateway) -> None:
    query = (
        'mutation { signUp(input: {username: "cleo", idempotencyKey: "the first sign-up"}) '
        "{ user { id username } errors { code } } }"
    )
    first, again = await gateway.data(query), await gateway.data(query)
    assert first == again
    taken = await gateway.data(query.replace('"the first sign-up"', '"the second sign-up"'))
    assert [e["code"] for e in taken["signUp"]["errors"]] == ["CONFLICT"]
