"""TLS to a real MariaDB: with `mysql_ca`, every connection has it, or there is no connection."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from datasources.errors import ConfigError, StoreError
from datasources.factory import StoresConfig, open_shards
from datasources.mysql import MySqlShards
from datasources.mysql.replication.admin import Admin
from datasources.mysql.replication.programs import login_file
from datasources.topology import ModShards, ShardRange, Topology
from deploy.stack.mariadb import USER, MariaDB
from deploy.stack.secrets import Secrets
from tests import certificates
from tests.pinway_process import free_port

pytestmark = pytest.mark.anyio
PASSWORD = "a-password_of_this_test"


class Server(MariaDB):
    """A MariaDB that takes connections with TLS only, or without TLS only."""

    def __init__(self, root: Path, files: certificates.Certificates | None) -> None:
        secrets = Secrets(PASSWORD, PASSWORD, PASSWORD, PASSWORD)
        ports = {"main": free_port()}
        super().__init__("mysql001a", root, ports, secrets, server_id=1, domain=1, first=True)
        self._files = files

    def config(self) -> dict[Path, str]:
        tls = "skip-ssl\n"
        if self._files:
            tls = (
                f"ssl-cert = {self._files.certificate}\nssl-key = {self._files.key}\n"
                "require-secure-transport = ON\n"
            )
        return {path: f"{text}\n{tls}" for path, text in super().config().items()}

    def settle(self) -> None:
        self.query("SELECT 1")
        if "1" in self.query("SELECT @@read_only"):
            self.query("SET GLOBAL read_only = 0")

    def probe(self) -> str:
        return self.query("SELECT 1")


def started(root: Path, files: certificates.Certificates | None) -> Iterator[Server]:
    server = Server(root, files)
    try:
        server.start()
        server.wait_ready(120)
        yield server
    finally:
        server.kill()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> certificates.Certificates:
    return certificates.made_in(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, files: certificates.Certificates
) -> Iterator[Server]:
    yield from started(tmp_path_factory.mktemp("tls"), files)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    yield from started(tmp_path_factory.mktemp("plain"), None)


def topology(url: str) -> Topology:
    shards = (ShardRange((0, 1), "S"),)
    return Topology(1, {"S": url}, shards, ModShards(1, (ShardRange((0, 0), "S"),)))


async def test_the_shards_and_the_operators_have_tls(
    server: Server, files: certificates.Certificates
) -> None:
    url = f"mysql://127.0.0.1:{server.port}"
    shards = MySqlShards(
        topology(url), user=USER, password=PASSWORD, ca=str(files.ca), deadline=60.0
    )
    try:
        assert list((await shards.ping()).values()) == [None]
    finally:
        await shards.close()
    admin = Admin("S", url, USER, PASSWORD, str(files.ca))
    try:
        [row] = await admin.run("SHOW SESSION STATUS LIKE 'Ssl_cipher'")
        assert row[1]
    finally:
        await admin.close()


def test_the_operators_programs_get_the_same_authority(files: certificates.Certificates) -> None:
    admin = Admin("S", "mysql://127.0.0.1:1", USER, PASSWORD, str(files.ca))
    with login_file(admin) as option:
        text = Path(option.partition("=")[2]).read_text()
    assert f"ssl-ca={files.ca}\nssl-verify-server-cert\n" in text


@pytest.mark.parametrize("case", ["another authority", "another name", "no TLS asked for"])
async def test_a_server_that_is_not_trusted_gets_no_password(
    server: Server, files: certificates.Certificates, case: str
) -> None:
    host = "localhost" if case == "another name" else "127.0.0.1"
    ca = {"another authority": files.other, "another name": files.ca}.get(case, "")
    admin = Admin("S", f"mysql://{host}:{server.port}", USER, PASSWORD, str(ca))
    with pytest.raises(StoreError) as refused:
        await admin.run("SELECT 1")
    assert PASSWORD not in str(refused.value)
    assert "\n" not in str(refused.value)
    await admin.close()


async def test_a_server_without_tls_is_refused_before_the_login(
    plain: Server, files: certificates.Certificates
) -> None:
    url = f"mysql://127.0.0.1:{plain.port}"
    admin = Admin("S", url, USER, PASSWORD, str(files.ca))
    with pytest.raises(StoreError, match=r"the server offers no TLS, and mysql\.ca needs it"):
        await admin.run("SELECT 1")
    await admin.close()
    admin = Admin("S", url, USER, PASSWORD)
    assert await admin.run("SELECT 1")
    await admin.close()


def test_a_file_without_certificates_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "empty.pem").touch()
    urls = ("object_cache", "mapping_cache", "queue", "pools_primary", "pools_standby")
    sides = ("feeds_primary", "feeds_standby")
    for ca in (tmp_path / "empty.pem", tmp_path / "lost.pem"):
        config = StoresConfig(
            topology="file:///t", **dict.fromkeys((*urls, *sides), ""), mysql_ca=str(ca)
        )
        with pytest.raises(ConfigError, match=rf"setting mysql\.ca: {ca} has no certificates"):
            open_shards(topology("mysql://127.0.0.1:1"), config)
