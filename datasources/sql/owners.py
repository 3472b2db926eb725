"""Checks that a server owns the shards of a move that are read from it.

A read of a shard is current if its server owned the shard during the read. A target whose fence
names it has applied all earlier events. So the fences are read before and after the data, and both
times they must say, under the same epoch, that the server owns the shard.
"""

from collections.abc import Sequence

from datasources.sql.engine import NotOwned, Place, Row


def owners(places: Sequence[Place]) -> str:
    """The statement that reads the fences of shards on one server, in order."""
    return " UNION ALL ".join(
        f"SELECT {number} AS number, f.epoch, CAST(f.owner AS CHAR), CAST(@@server_id AS CHAR) "
        f"FROM {place.database}.fence f WHERE f.id = 1"
        for number, place in enumerate(places)
    )


def check_owned(places: Sequence[Place], before: Sequence[Row], after: Sequence[Row]) -> None:
    """Raises NotOwned for shards that the server did not own the whole time."""
    then, now = ({number: rest for number, *rest in rows} for rows in (before, after))
    refused = [
        place
        for number, place in enumerate(places)
        if number not in then or then[number] != now.get(number) or not _is_owner(*then[number])
    ]
    if refused:
        names = ", ".join(place.database for place in refused)
        raise NotOwned(f"{names} on {refused[0].server}: another server has them", refused)


def _is_owner(epoch: int, owner: bytes, server: bytes) -> bool:
    return owner == server
