"""The URLs of stores: no message shows a password, and no URL is a traceback."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import strategies as st

from datasources import backends, factory
from datasources.backends import CacheOptions
from datasources.errors import ConfigError, PinwayError
from datasources.topology import ModShards, ShardRange, Topology, dump, parse
from datasources.urls import LOCAL, address, mask, masked_text, split
from gateway.operate import configuration
from gateway.settings import read_settings
from tests.generated import given, settings
from tests.scale import scaled

SECRET = "XsecretX"
OPTIONS = CacheOptions(refused_is_empty=True, generations=None)
TABLES = {
    "topology": factory.TOPOLOGIES,
    "object_cache": factory._bind(factory.OBJECT_CACHES, OPTIONS),
    "mapping_cache": factory._bind(factory.MAPPING_CACHES, OPTIONS),
    "queue": factory.QUEUES,
    "pools_primary": factory.WIDE_COLUMNS,
    "search": factory.SEARCHES,
}
SCHEMES = sorted({scheme for table in TABLES.values() for scheme in table} | {"mysql", "unix", ""})
REMOTE = [scheme for scheme in SCHEMES if scheme not in LOCAL]
ODD = st.text(alphabet="/#?@:[]%&=,;\\ \n\u00e9ab1.", max_size=6)
PASSWORDS = st.tuples(ODD, ODD).map(lambda ends: f"{ends[0]}{SECRET}{ends[1]}")
URLS = st.tuples(
    st.sampled_from(REMOTE),
    st.sampled_from(["", "user", ":", "me:you"]) | ODD,
    PASSWORDS,
    st.sampled_from(["host:1", "host", "h:notaport", "a:1,b:2", "[::1]:5", "[half", ""]) | ODD,
    st.sampled_from(["", "/0", "/x", "?db=1", "/0?ssl_ca_certs=/lost", "/p?password=1"]) | ODD,
).map(lambda parts: f"{parts[0]}://{parts[1]}:{parts[2]}@{parts[3]}{parts[4]}")


@contextlib.contextmanager
def no_secret() -> Iterator[None]:
    """Fails if the block raises anything but an error of one line without the password."""
    told = ""
    try:
        yield
    except PinwayError as error:
        told = str(error)
        if not error.__suppress_context__ and error.__context__ is not None:
            told += str(error.__context__)
    assert SECRET not in told
    assert "\n" not in told


@settings(max_examples=scaled(200, 600))
@given(setting=st.sampled_from(sorted(TABLES)), url=URLS)
def test_no_url_is_a_traceback_and_no_message_shows_its_password(setting: str, url: str) -> None:
    with no_secret():
        factory._open(setting, url, TABLES[setting])
    for shown in (mask(url), address(url), masked_text(f"it is {url!r}")):
        assert SECRET not in shown or url.rpartition("@")[2].count(SECRET)


@settings(max_examples=scaled(100, 300))
@given(url=URLS)
def test_no_address_of_a_server_in_the_topology_shows_its_password(url: str) -> None:
    shards = (ShardRange((0, 1), "S"),)
    topology = Topology(1, {"S": url}, shards, ModShards(1, (ShardRange((0, 0), "S"),)))
    with no_secret():
        parse(dump(topology))


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://:pa#ss@host/0", "redis://***@host/0"),
        ("redis://:pa/ss@host:1/0", "redis://***@host:1/0"),
        ("redis://me:pa?s@s@host", "redis://***@host"),
        ("redis://me:pass@host", "redis://me:***@host"),
        ("redis://pass@host", "redis://***@host"),
        ("redis://host:1/0?password=pass&db=1", "redis://host:1/0?password=***&db=1"),
        ("redis+unix://me:pass@/run/redis.sock?db=0", "redis+unix://me:***@/run/redis.sock?db=0"),
        ("me:pass@host", "***@host"),
        ("redis://host:1/0", "redis://host:1/0"),
        ("sqlite:///var/a@b", "sqlite:///var/a@b"),
        ("embedded", "embedded"),
    ],
)
def test_what_stands_before_the_last_at_is_masked(url: str, shown: str) -> None:
    assert mask(url) == shown


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("redis://:pa#ss@host/0", "percent-encode the user and the password"),
        ("redis://:pa/ss@host/0", "percent-encode the user and the password"),
        ("redis://:pa%ss@host/0", "percent-encode the user and the password"),
        ("redis://u:p[x@h/0", "percent-encode the user and the password"),
        ("redis://:p@h:notaport/0", "'h:notaport' must be host:port"),
        ("redis://:p@h:70000/0", "'h:70000' must be host:port"),
        ("redis://a:1,b:2/0", "neither Sentinel nor a cluster"),
        ("redis://h:1/zero", "the database must be a number"),
        ("redis://h:1/0?sentinel=x", "an option that Pinway does not know: it takes none"),
        ("redis://h:1/0#x", "it has a #"),
        ("rediss://h:1/0?ssl_cert_reqs=none", "it takes only ssl_ca_certs, ssl_certfile, ssl_keyf"),
        ("rediss://h:1/0?ssl_ca_certs=/lost", "/lost has no certificates: No such file"),
        ("redis+unix://u:p@run/redis.sock", "an absolute path is missing"),
        ("redis+unix:///run/redis.sock?db=x", "the database must be a number"),
        ("redis+sentinel://h:1/0", "starts with none of redis://, rediss://, redis+unix://"),
    ],
)
@pytest.mark.parametrize("setting", ["mapping_cache", "queue"])
def test_a_wrong_url_of_redis_is_one_line(setting: str, url: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        factory._open(setting, url, TABLES[setting])
    assert told in str(caught.value)
    assert str(caught.value).startswith(f"setting stores.{setting}: ")


@pytest.mark.parametrize(
    ("setting", "url", "told"),
    [
        ("object_cache", "memcached://u:p@h:1", "sends no user and password to memcached"),
        ("object_cache", "memcached://h:1/path", "memcached has no path"),
        ("object_cache", "memcached://h:1?x=1", "it takes none"),
        ("pools_primary", "hbase://u:p@h:1", "sends no user and password to HBase"),
        ("topology", "zookeeper://u:p@h:1/t", "sends no user and password to ZooKeeper"),
    ],
)
def test_a_password_for_a_server_that_takes_none_is_refused(
    setting: str, url: str, told: str
) -> None:
    with pytest.raises(ConfigError, match=told):
        factory._open(setting, url, TABLES[setting])


@given(password=st.text(alphabet=st.characters(codec="utf-8"), min_size=1, max_size=20))
def test_an_encoded_password_is_taken(password: str) -> None:
    url = f"redis://me:{quote(password, safe='')}@host:1/0"
    assert backends._redis(split(url)) == url


@pytest.mark.parametrize("url", [f"redis://:{SECRET}#x@host/0", f"http://a:{SECRET}@host /"])
def test_settings_are_shown_without_passwords(url: str, tmp_path: Path) -> None:
    file = tmp_path / "pinway.toml"
    file.write_text(f'[stores]\nqueue = "{url}"\nmapping_cache = "{url}"\n')
    shown = {setting.name: setting.value for setting in configuration.shown(file, {})}
    assert SECRET not in repr(shown)
    assert shown["stores.queue"].endswith("***@" + url.rpartition("@")[2])


@pytest.mark.parametrize("name", ["telemetry.traces", "http.public_url", "http.workers"])
def test_the_message_of_a_wrong_setting_shows_no_password(name: str) -> None:
    for url in (f"ht tp://u:{SECRET}@host", f"u:{SECRET}@host", f"redis://:a/{SECRET}#@host"):
        with pytest.raises(ConfigError) as caught:
            read_settings(options={name: url})
        assert SECRET not in str(caught.value)


@pytest.mark.parametrize("url", ["", "host", "://x", "1x://h", ":p@h"])
def test_a_url_without_a_scheme_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="starts with none of redis://"):
        factory._open("queue", url, TABLES["queue"])
