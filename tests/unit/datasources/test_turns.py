"""The turns in which the shards of all servers are read."""

import pytest

from datasources.sql import turns
from datasources.topology import ModShards, ShardRange, Topology


def topology(*sizes: int) -> Topology:
    """Servers A, B... with these numbers of shards, each in two ranges if it has several."""
    ranges, first = list[ShardRange](), 0
    names = [chr(ord("A") + number) for number in range(len(sizes))]
    for half in (0, 1):
        for name, size in zip(names, sizes, strict=True):
            count = size // 2 if half else size - size // 2
            if count:
                ranges.append(ShardRange((first, first + count - 1), name))
                first += count
    servers = {name: f"mysql://{name}" for name in names}
    return Topology(1, servers, tuple(ranges), ModShards(1, (ShardRange((0, 0), "A"),)))


@pytest.mark.parametrize("sizes", [(1,), (256,), (257,), (4096,), (3, 512, 700), (255, 256, 257)])
@pytest.mark.parametrize("first", [0, 1, 17])
def test_a_few_turns_read_each_shard_and_none_reads_many_of_a_server(
    sizes: tuple[int, ...], first: int
) -> None:
    shards = topology(*sizes)
    rounds, seen = -(-max(sizes) // turns.SHARDS), set[int]()
    for turn in range(first, first + rounds):
        read = turns.of_turn(shards, turn)
        assert len(read) == len(set(read))
        for name, own in shards.shards_of_masters.items():
            of_server = set(read) & set(own)
            assert 0 < len(of_server) <= turns.SHARDS, name
            assert len(own) > turns.SHARDS or of_server == set(own)
        seen |= set(read)
    assert seen == set(shards.open_shards)
