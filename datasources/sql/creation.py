"""Decides which shards may be created: a shard that exists on any server is never created again.

A second, empty shard on another server would take writes for ids that the first shard has. So a
fence is created only at the first installation, and by `pinway shards open` for shards that no
topology has named before.
"""

from collections.abc import Iterable, Mapping, Sequence

from datasources.errors import Damaged, StoreError, StoreUnavailable
from datasources.sql.engine import Place

Fences = Mapping[str, int | None]
"""The databases of a server with their fences' epochs; None for a database without a fence."""


def unfenced(places: Iterable[Place], fences: Mapping[str, Fences]) -> list[Place]:
    """The places whose servers don't have the shard."""
    return [p for p in places if fences.get(p.server, {}).get(p.database) is None]


def check_new(
    missing: Sequence[Place],
    fences: Mapping[str, Fences],
    lost: Mapping[str, StoreError],
    epoch: int,
    *,
    opening: bool = False,
) -> None:
    """Raises Damaged unless the missing shards are new: no server has them, and either no shard has
    an earlier epoch than the topology's `epoch` or they are being opened. Raises StoreUnavailable
    if a server that might have them could not be asked."""
    for place in missing:
        for server, shards in fences.items():
            if server != place.server and shards.get(place.database) is not None:
                raise Damaged(
                    f"{place.database} is on {server}, but the topology of epoch {epoch} has it on "
                    f"{place.server}: nothing was made there, since an empty shard would hide its "
                    f"objects. Set the range's master back to {server}"
                )
    if missing and lost:
        server, error = min(lost.items())
        raise StoreUnavailable(
            f"{missing[0].database} does not exist on {missing[0].server}, and {server} can't be "
            f"asked whether it has it ({error}): nothing was made; start {server} first"
        )
    if missing and not opening:
        _check_first_installation(missing[0], fences, epoch)


def _check_first_installation(missing: Place, fences: Mapping[str, Fences], epoch: int) -> None:
    earlier = [e for shards in fences.values() for e in shards.values() if e and e < epoch]
    if earlier:
        raise Damaged(
            f"{missing.database} does not exist on {missing.server}, and other shards were made "
            f"under epoch {min(earlier)} while the topology has {epoch}: nothing was made, since "
            "`pinway init` makes shards only at the first installation. "
            "`pinway shards open RANGE --on HOST` opens new ones"
        )
