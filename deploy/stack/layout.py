"""The parts of the stack, and the settings and the topology that Pinway needs for them."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from deploy.stack.caches import Memcached, Redis
from deploy.stack.java import HBase, HBaseThrift, ZooKeeper
from deploy.stack.mariadb import USER, MariaDBMaster, MariaDBSlave, topology_name
from deploy.stack.ports import HOST
from deploy.stack.secrets import Secrets
from deploy.stack.service import Service

# Service → what it needs ports for.
PORTS: dict[str, tuple[str, ...]] = {
    "hbase-primary": ("main", "region", "zookeeper"),
    "hbase-standby": ("main", "region", "zookeeper"),
    "hbase-primary-thrift": ("main",),
    "hbase-standby-thrift": ("main",),
    "mysql001a": ("main",),
    "mysql001b": ("main",),
    "mysql002a": ("main",),
    "mysql002b": ("main",),
    "zookeeper": ("main",),
    "redis": ("main",),
    "memcached": ("main",),
}
_PAIRS = (("mysql001a", "mysql001b"), ("mysql002a", "mysql002b"))


def port_names() -> list[str]:
    """`service/use` for every port of the stack."""
    return [f"{service}/{use}" for service, uses in PORTS.items() for use in uses]


def build(root: Path, ports: Mapping[str, int], secrets: Secrets) -> dict[str, Service]:
    """The stack's servers by name, those that take longest to start first."""

    def of(service: str) -> dict[str, int]:
        return {use: ports[f"{service}/{use}"] for use in PORTS[service]}

    services: list[Service] = []
    clusters = [HBase(name, root, of(name)) for name in ("hbase-primary", "hbase-standby")]
    services += clusters
    for cluster in clusters:
        name = f"{cluster.name}-thrift"
        services.append(HBaseThrift(name, root, of(name), cluster=cluster))
    for domain, (a, b) in enumerate(_PAIRS, start=1):
        first_id = 2 * domain - 1
        master = MariaDBMaster(a, root, of(a), secrets, server_id=first_id, domain=domain)
        slave = MariaDBSlave(b, root, of(b), secrets, server_id=first_id + 1, master=master)
        services += [master, slave]
    services.append(ZooKeeper("zookeeper", root, of("zookeeper")))
    services.append(Redis("redis", root, of("redis")))
    services.append(Memcached("memcached", root, of("memcached")))
    return {service.name: service for service in services}


def _ranges(count: int) -> Iterator[dict[str, Any]]:
    """Shards 0 to `count` - 1 in one inclusive range a pair of servers."""
    first = 0
    for left, (master, slave) in zip(range(len(_PAIRS), 0, -1), _PAIRS, strict=True):
        last = first + -(-(count - first) // left) - 1
        if last >= first:
            yield {
                "range": [first, last],
                "master": topology_name(master),
                "slave": topology_name(slave),
            }
        first = last + 1


def topology(ports: Mapping[str, int], shards: int, mod_shards: int, epoch: int) -> dict[str, Any]:
    """The topology document that ZooKeeper is to hold."""
    servers = {
        topology_name(name): f"mysql://{HOST}:{ports[f'{name}/main']}"
        for pair in _PAIRS
        for name in pair
    }
    return {
        "epoch": epoch,
        "servers": servers,
        "shards": list(_ranges(shards)),
        "mod": {"count": mod_shards, "ranges": list(_ranges(mod_shards))},
    }


def settings(root: Path, ports: Mapping[str, int], secrets: Secrets) -> dict[str, str]:
    """The settings with which `pinway serve --config` runs on this stack."""

    def at(service: str) -> str:
        return f"{HOST}:{ports[f'{service}/main']}"

    primary = f"hbase://{at('hbase-primary-thrift')}"
    standby = f"hbase://{at('hbase-standby-thrift')}"
    return {
        "data_dir": str(root / "gateway"),
        "auth_secret": secrets.auth_secret,
        "topology": f"zookeeper://{at('zookeeper')}/pinway/topology",
        "topology_seed": str(root / "topology.json"),
        "mysql_user": USER,
        "mysql_password": secrets.mysql_password,
        "object_cache": f"memcached://{at('memcached')}",
        "mapping_cache": f"redis://{at('redis')}/0",
        "queue": f"redis://{at('redis')}/1",
        "pools_primary": primary,
        "pools_standby": standby,
        "feeds_primary": primary,
        "feeds_standby": standby,
    }


def to_toml(values: Mapping[str, str]) -> str:
    """A flat TOML document of strings; JSON's quoting of a string is TOML's, too."""
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]
    return "\n".join(lines) + "\n"
