"""The parts of the stack, and the settings and the topology that Pinway needs for them."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from deploy.stack.caches import Memcached, Redis
from deploy.stack.java import HBase, HBaseThrift, ZooKeeper
from deploy.stack.mariadb import OPERATOR_USER, USER, MariaDB, topology_name
from deploy.stack.opensearch import OpenSearch
from deploy.stack.ports import HOST
from deploy.stack.secrets import Secrets
from deploy.stack.service import Service

PAIRS = 2
"""The number of pairs of MariaDB servers (a master and its slave), unless more are requested."""

# Service → the uses of its ports; the MariaDB servers are added in between.
_FRONT: dict[str, tuple[str, ...]] = {
    "hbase-primary": ("main", "region", "zookeeper"),
    "hbase-standby": ("main", "region", "zookeeper"),
    "hbase-primary-thrift": ("main",),
    "hbase-standby-thrift": ("main",),
    "opensearch": ("main", "transport"),
}
_BACK: dict[str, tuple[str, ...]] = {
    "zookeeper": ("main",),
    "redis": ("main",),
    "memcached": ("main",),
}


def pairs(count: int) -> list[tuple[str, str]]:
    """The names of each pair: mysql001a, the first master, and mysql001b."""
    return [(f"mysql{n:03d}a", f"mysql{n:03d}b") for n in range(1, count + 1)]


def services(count: int = PAIRS) -> dict[str, tuple[str, ...]]:
    """Service → the uses of its ports, with `count` pairs of MariaDB servers."""
    databases = {name: ("main",) for pair in pairs(count) for name in pair}
    return {**_FRONT, **databases, **_BACK}


def port_names(count: int = PAIRS) -> list[str]:
    """`service/use` for every port of the stack."""
    return [f"{service}/{use}" for service, uses in services(count).items() for use in uses]


def build(
    root: Path, ports: Mapping[str, int], secrets: Secrets, count: int = PAIRS
) -> dict[str, Service]:
    """The stack's servers by name, the slowest starters first."""
    uses = services(count)

    def of(service: str) -> dict[str, int]:
        return {use: ports[f"{service}/{use}"] for use in uses[service]}

    made: list[Service] = []
    clusters = [HBase(name, root, of(name)) for name in ("hbase-primary", "hbase-standby")]
    made += clusters
    for cluster in clusters:
        name = f"{cluster.name}-thrift"
        made.append(HBaseThrift(name, root, of(name), cluster=cluster))
    made.append(OpenSearch("opensearch", root, of("opensearch")))
    for domain, pair in enumerate(pairs(count), start=1):
        first, second = (
            MariaDB(
                name, root, of(name), secrets, server_id=id, domain=domain, first=name == pair[0]
            )
            for id, name in enumerate(pair, start=2 * domain - 1)
        )
        first.pair(second)
        made += [first, second]
    made.append(ZooKeeper("zookeeper", root, of("zookeeper")))
    made.append(Redis("redis", root, of("redis")))
    made.append(Memcached("memcached", root, of("memcached")))
    return {service.name: service for service in made}


def _ranges(count: int, over: int) -> Iterator[dict[str, Any]]:
    """Shards 0 to `count` - 1 in one inclusive range for each of the first `over` pairs."""
    first = 0
    for left, (master, slave) in zip(range(over, 0, -1), pairs(over), strict=True):
        last = first + -(-(count - first) // left) - 1
        if last >= first:
            yield {
                "range": [first, last],
                "master": topology_name(master),
                "slave": topology_name(slave),
            }
        first = last + 1


def topology(
    ports: Mapping[str, int],
    shards: int,
    mod_shards: int,
    epoch: int,
    *,
    count: int = PAIRS,
    over: int = PAIRS,
) -> dict[str, Any]:
    """The topology document for ZooKeeper. The first `over` of `count` pairs have shards."""
    servers = {
        topology_name(name): f"mysql://{HOST}:{ports[f'{name}/main']}"
        for pair in pairs(count)
        for name in pair
    }
    return {
        "epoch": epoch,
        "servers": servers,
        "shards": list(_ranges(shards, over)),
        "mod": {"count": mod_shards, "ranges": list(_ranges(mod_shards, over))},
    }


def settings(root: Path, ports: Mapping[str, int], secrets: Secrets) -> dict[str, str]:
    """The settings with which `pinway serve --config` runs on this stack, by full names."""

    def at(service: str) -> str:
        return f"{HOST}:{ports[f'{service}/main']}"

    primary = f"hbase://{at('hbase-primary-thrift')}"
    standby = f"hbase://{at('hbase-standby-thrift')}"
    return {
        "data_dir": str(root / "gateway"),
        "auth.secret": secrets.auth_secret,
        "stores.topology": f"zookeeper://{at('zookeeper')}/pinway/topology",
        "stores.topology_seed": str(root / "topology.json"),
        "mysql.user": USER,
        "mysql.password": secrets.mysql_password,
        "mysql.operator_user": OPERATOR_USER,
        "mysql.operator_password": secrets.mysql_operator_password,
        "stores.object_cache": f"memcached://{at('memcached')}",
        "stores.mapping_cache": f"redis://{at('redis')}/0",
        "stores.queue": f"redis://{at('redis')}/1",
        "stores.pools_primary": primary,
        "stores.pools_standby": standby,
        "stores.feeds_primary": primary,
        "stores.feeds_standby": standby,
        "stores.search": f"opensearch://{at('opensearch')}/pinway",
    }


def to_toml(values: Mapping[str, str]) -> str:
    """A TOML document of strings. A name `http.port` is the key `port` of the table `http`."""
    tables: dict[str, list[str]] = {"": []}
    for name, value in values.items():
        table, _, key = name.rpartition(".")
        # JSON's quoting of a string is TOML's, too
        line = f"{key} = {json.dumps(value, ensure_ascii=False)}"
        tables.setdefault(table, []).append(line)
    parts = [[f"[{table}]", *lines] if table else lines for table, lines in tables.items()]
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"
