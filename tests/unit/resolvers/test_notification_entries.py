"""The folding of notifications into entries."""

from datasources.protocols import Inbox, Notification, NotificationKind
from resolvers.notifications import fold

FOLLOWED, _, SAVED, LIKED, COMMENTED, *_ = NotificationKind


def act(kind: NotificationKind, subject: int, actor: int, place: int) -> Notification:
    return Notification(1, kind, subject, actor, 0, 1, 5, place=place)


def test_the_likes_of_one_pin_are_one_entry_at_the_place_of_the_newest() -> None:
    acts = [
        act(LIKED, 7, 20, 9),
        act(COMMENTED, 7, 21, 8),
        act(LIKED, 8, 22, 7),
        act(LIKED, 7, 23, 6),
        act(SAVED, 7, 24, 5),
        act(SAVED, 7, 25, 4),
    ]
    entries = fold(Inbox(0, acts), set())
    assert [it.place for it in entries] == [9, 8, 7, 5, 4]
    assert [len(it.acts) for it in entries] == [2, 1, 1, 1, 1]


def test_hidden_users_are_no_part_of_an_entry() -> None:
    acts = [act(LIKED, 7, actor, 9 - actor) for actor in range(6)]
    [entry] = fold(Inbox(0, [*acts, act(FOLLOWED, 1, 4, 1)]), {0, 4})
    assert [it.actor_id for it in entry.acts] == [1, 2, 3, 5]
    assert entry.place == 8
