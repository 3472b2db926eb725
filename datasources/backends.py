"""One function for each backend: from the parts of a URL to the opened store.

Drivers are imported here, when a URL needs them. BadUrl says what is missing in a URL.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import SplitResult, parse_qs, unquote, urlunsplit

from datasources import tls, urls
from datasources.protocols import (
    Broadcasts,
    Generations,
    JobQueue,
    MappingCache,
    ObjectCache,
    Operations,
    PictureStore,
    SearchStore,
    ShardStore,
    Switches,
    TopologySource,
    WideColumnStore,
)
from datasources.topology import Topology
from datasources.urls import BadUrl

if TYPE_CHECKING:
    from datasources.obstore import Bucket


MEMORY_CACHE_BYTES = 64 << 20
DUMP_SECONDS = 120.0
_BUCKET = re.compile(r"[A-Za-z0-9._-]+")
_ENDPOINT = re.compile(r"https?://[^\s/?#@]+(/[^\s?#]*)?")
_PREFIX = re.compile(r"[a-z0-9][a-z0-9_]{0,63}")
TLS_OPTIONS = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")


class CacheOptions(NamedTuple):
    """The parameters that both networked caches take."""

    refused_is_empty: bool
    generations: Generations | None


def file_topology(url: SplitResult) -> TopologySource:
    from datasources.file import FileTopology

    return FileTopology(_path(url))


def zookeeper_topology(url: SplitResult) -> TopologySource:
    _hosts(url, "ZooKeeper")
    if not url.path.strip("/"):
        raise BadUrl("a path is missing, as in zookeeper://host:2181/pinway/topology")
    from datasources.zookeeper import ZooKeeperTopology

    return ZooKeeperTopology(url.netloc, url.path)


def file_switches(url: SplitResult) -> Switches:
    from datasources.file import FileSwitches

    return FileSwitches(f"{_path(url)}.switches")


def zookeeper_switches(url: SplitResult) -> Switches:
    _hosts(url, "ZooKeeper")
    from datasources.zookeeper import ZooKeeperSwitches

    return ZooKeeperSwitches(url.netloc, f"{url.path.rstrip('/')}.switches")


def zookeeper_operations(url: SplitResult) -> Operations:
    _hosts(url, "ZooKeeper")
    from datasources.zookeeper import ZooKeeperOperations

    return ZooKeeperOperations(url.netloc, url.path)


def zookeeper_generations(url: SplitResult) -> Generations:
    """Call it in the event loop."""
    from datasources.zookeeper import ZooKeeperGenerations

    generations = ZooKeeperGenerations(url.netloc, f"{url.path.rstrip('/')}.caches")
    generations.start()
    return generations


def memory_cache(url: SplitResult, _: CacheOptions) -> ObjectCache:
    from datasources.memory import MemoryObjectCache

    text = parse_qs(url.query).get("max_bytes", [str(MEMORY_CACHE_BYTES)])[0]
    if not text.isdecimal() or int(text) == 0:
        raise BadUrl("max_bytes must be a number of bytes, as in memory://?max_bytes=67108864")
    return MemoryObjectCache(int(text))


def memcached_cache(url: SplitResult, options: CacheOptions) -> ObjectCache:
    servers = _hosts(url, "memcached")
    if url.path.strip("/"):
        raise BadUrl("memcached has no path: it must end after the last port")
    from datasources.memcached import MemcachedObjectCache

    return MemcachedObjectCache(servers, **options._asdict())


def redis_lists(url: SplitResult, options: CacheOptions) -> MappingCache:
    from datasources.redis import RedisMappingCache

    return RedisMappingCache(_redis(url), **options._asdict())


def redis_broadcasts(url: SplitResult) -> Broadcasts:
    from datasources.redis import RedisBroadcasts

    return RedisBroadcasts(_redis(url))


def streaq_queue(url: SplitResult) -> JobQueue:
    from datasources.streaq import StreaqQueue

    return StreaqQueue(_redis(url))


def rocksdb_columns(url: SplitResult) -> WideColumnStore:
    from datasources.rocksdb import RocksWideColumns

    return RocksWideColumns(_path(url))


def hbase_columns(url: SplitResult) -> WideColumnStore:
    hosts = _hosts(url, "HBase")
    if len(hosts) != 1:
        raise BadUrl("one Thrift server is needed, as in hbase://host:9090")
    from datasources.hbase import HBaseWideColumns

    prefix = url.path.strip("/")
    return HBaseWideColumns(*hosts[0], prefix=f"{prefix}_" if prefix else "")


def tantivy_search(url: SplitResult) -> SearchStore:
    from datasources.tantivy import TantivySearch

    return TantivySearch(_path(url))


def opensearch_search(url: SplitResult) -> SearchStore:
    nodes = urls.hosts(url, port=9200)
    prefix = url.path.strip("/")
    if not _PREFIX.fullmatch(prefix):
        raise BadUrl(
            "it must end with the beginning of the indexes' names, of small letters, digits and "
            "underscores, as in opensearch://host:9200/pinway"
        )
    secure = url.scheme == "opensearch+tls"
    given = urls.options(url, (*TLS_OPTIONS, "shards") if secure else ("shards",))
    shards = given.get("shards", "1")
    if not shards.isdecimal() or not 0 < int(shards) <= 1024:
        raise BadUrl("shards must be a number from 1 to 1,024")
    if url.username is not None and not secure:
        raise BadUrl("a user and a password need TLS: write opensearch+tls://")
    try:
        context = tls.context(*(given.get(name, "") for name in TLS_OPTIONS)) if secure else None
    except tls.BadCertificate as error:
        raise BadUrl(str(error)) from None
    from datasources.opensearch import Cluster, OpenSearch

    return OpenSearch(
        Cluster(
            nodes=tuple(nodes),
            prefix=prefix,
            user=unquote(url.username or ""),
            password=unquote(url.password or ""),
            tls=context,
            shards=int(shards),
        )
    )


def folder_pictures(url: SplitResult) -> PictureStore:
    from datasources.obstore import in_folder

    return in_folder(Path(_path(url)))


def bucket_pictures(url: SplitResult) -> PictureStore:
    from datasources.obstore import SECONDS, in_bucket

    return in_bucket(_bucket(url), "pictures", SECONDS)


def bucket_dump(url: SplitResult, pictures: SplitResult) -> PictureStore:
    """A bucket for a dump, whose files may be larger than pictures. Without an endpoint and a
    region, it is in the same service as the bucket of the pictures."""
    from datasources.obstore import in_bucket

    bucket = _bucket(url)
    if not url.query and pictures.scheme == "s3":
        service = _bucket(pictures)
        bucket = bucket._replace(endpoint=service.endpoint, region=service.region)
    return in_bucket(bucket, "the dump", DUMP_SECONDS)


def _bucket(url: SplitResult) -> "Bucket":
    from datasources.obstore import Bucket

    options = {name: values[-1] for name, values in parse_qs(url.query).items()}
    if not _BUCKET.fullmatch(url.netloc) or options.keys() - {"endpoint", "region"}:
        raise BadUrl("it must be s3://BUCKET/PREFIX?endpoint=ADDRESS&region=REGION")
    endpoint = options.get("endpoint")
    if endpoint is not None and not _ENDPOINT.fullmatch(endpoint):
        raise BadUrl("its endpoint must be https://HOST or http://HOST")
    return Bucket(url.netloc, url.path.strip("/"), **options)


def sqlite_shards(topology: Topology) -> ShardStore:
    from datasources.sqlite import SqliteShards

    return SqliteShards(topology)


def mysql_shards(
    topology: Topology, user: str, password: str, connections: int, slave_reads: bool, ca: str
) -> ShardStore:
    if ca:
        tls.context(ca)
    from datasources.mysql import MySqlShards

    return MySqlShards(
        topology,
        user=user,
        password=password,
        pool_size=connections // 2,
        slave_reads=slave_reads,
        ca=ca,
    )


def _path(url: SplitResult) -> str:
    if url.netloc or not url.path.startswith("/") or url.path == "/":
        raise BadUrl(f"an absolute path is missing, as in {url.scheme}:///var/lib/pinway")
    return unquote(url.path)


def _hosts(url: SplitResult, kind: str) -> list[tuple[str, int]]:
    """The servers of a URL without a user, a password and options."""
    urls.without_login(url, kind)
    urls.options(url, ())
    return urls.hosts(url)


def _redis(url: SplitResult) -> str:
    if url.scheme == "redis+unix":
        _socket(url)
        login, at, _ = url.netloc.rpartition("@")
        return f"redis+unix://{login}{at}{url.path}?{url.query}"  # urlunsplit drops an empty host
    if url.netloc.rpartition("@")[2] == "":
        raise BadUrl(f"a host is missing, as in {url.scheme}://127.0.0.1:6379/0")
    if len(urls.hosts(url, port=6379)) != 1:
        raise BadUrl("one server is needed: Pinway uses neither Sentinel nor a cluster")
    if not re.fullmatch(r"/?|/[0-9]{1,4}", url.path):
        raise BadUrl(f"the database must be a number, as in {url.scheme}://127.0.0.1:6379/0")
    if url.scheme == "rediss":
        given = urls.options(url, TLS_OPTIONS)
        try:
            tls.context(*(given.get(name, "") for name in TLS_OPTIONS))
        except tls.BadCertificate as error:
            raise BadUrl(str(error)) from None
    else:
        urls.options(url, ())
    return urlunsplit(url)


def _socket(url: SplitResult) -> None:
    """Check `redis+unix://[user:password@]/path[?db=N]`."""
    if not url.netloc.endswith("@"):
        _path(url)
    elif not url.path.startswith("/") or url.path == "/":
        raise BadUrl("an absolute path is missing, as in redis+unix:///run/redis.sock?db=0")
    if not urls.options(url, ("db",)).get("db", "0").isdecimal():
        raise BadUrl("the database must be a number, as in redis+unix:///run/redis.sock?db=0")
