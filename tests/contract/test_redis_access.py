"""TLS, users of the ACL and Unix sockets, with a real Redis: each works for the cache and for the
queue, and a refusal is one line without the password."""

import asyncio
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import quote

import pytest

from datasources import backends
from datasources.errors import StoreError
from datasources.mappings import ListKey, Mapping
from datasources.protocols import Job, Lease
from datasources.redis import RedisMappingCache
from datasources.streaq import StreaqQueue
from datasources.urls import split
from tests import certificates
from tests.pinway_process import free_port

pytestmark = pytest.mark.anyio
USER, PASSWORD = "me", "p/a#s?s:w@o%rd"
LOGIN = f"{USER}:{quote(PASSWORD, safe='')}"
PATIENT = 20.0  # seconds: the tests' machine may be busy


class Server:
    """A Redis that takes only the user, over a Unix socket, TCP, and TLS."""

    def __init__(self, folder: Path) -> None:
        self.port, self.tls_port = free_port(), free_port()
        self.files = certificates.made_in(folder)
        self.socket = folder / "r.sock"
        (folder / "users.acl").write_text(
            f"user default off\nuser {USER} on >{PASSWORD} ~* &* +@all -@dangerous +info\n"
        )
        (folder / "redis.conf").write_text(
            f"port {self.port}\nbind 127.0.0.1\ntls-port {self.tls_port}\n"
            f"tls-cert-file {self.files.certificate}\ntls-key-file {self.files.key}\n"
            f"tls-ca-cert-file {self.files.ca}\ntls-auth-clients optional\n"
            f"unixsocket {self.socket}\ndir {folder}\nsave ''\naclfile {folder}/users.acl\n"
        )
        self.process = subprocess.Popen(
            ["redis-server", folder / "redis.conf"], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        log = []
        for line in self.process.stdout:
            log.append(line)
            if "ready to accept connections at" in line:  # the Unix socket, opened last
                return
        raise RuntimeError("".join(log))

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("redis")
    with ExitStack() as closing:
        made = Server(folder)
        closing.callback(made.close)
        yield made


def urls(server: Server) -> dict[str, str]:
    files = server.files
    tls = f"rediss://{LOGIN}@127.0.0.1:{server.tls_port}/3?ssl_ca_certs={files.ca}"
    return {
        "a user": f"redis://{LOGIN}@127.0.0.1:{server.port}/3",
        "TLS": tls,
        "TLS with a certificate of the client": (
            f"{tls}&ssl_certfile={files.certificate}&ssl_keyfile={files.key}"
        ),
        "a Unix socket": f"redis+unix://{LOGIN}@{server.socket}?db=3",
    }


def wrong(server: Server) -> dict[str, str]:
    tls = f"rediss://{LOGIN}@127.0.0.1:{server.tls_port}/3"
    return {
        "a wrong password": f"redis://{USER}:XsecretX@127.0.0.1:{server.port}/3",
        "a wrong user": f"redis+unix://you:XsecretX@{server.socket}?db=3",
        "no user": f"redis://127.0.0.1:{server.port}/3",
        "another authority": f"{tls}?ssl_ca_certs={server.files.other}",
        "no authority": tls,
        "another name": tls.replace("127.0.0.1", "localhost") + f"?ssl_ca_certs={server.files.ca}",
        "no TLS there": f"rediss://{LOGIN}@127.0.0.1:{server.port}/3?ssl_ca_certs={server.files.ca}",
    }


@pytest.mark.parametrize(
    "way", ["a user", "TLS", "TLS with a certificate of the client", "a Unix socket"]
)
async def test_the_cache_and_the_queue_work(server: Server, way: str) -> None:
    url = urls(server)[way]
    cache = RedisMappingCache(backends._redis(split(url)), deadline=PATIENT)
    key = ListKey(Mapping.PIN_HAS_COMMENTS, 1)
    assert isinstance((await cache.heads([key]))[key], Lease)
    await cache.drop([key])
    await cache.close()
    queue = StreaqQueue(backends._redis(split(url)), deadline=PATIENT)
    before = await queue.depth()
    await queue.enqueue([Job(1, before + 1)])
    assert await queue.depth() == before + 1
    ran = asyncio.Event()

    async def run(job: Job) -> None:
        ran.set()

    worker = asyncio.create_task(queue.work(run))
    await ran.wait()
    worker.cancel()
    await asyncio.wait([worker])
    await queue.close()


@pytest.mark.parametrize(
    "way",
    [
        *("a wrong password", "a wrong user", "no user", "another authority", "no authority"),
        *("another name", "no TLS there"),
    ],
)
async def test_a_refusal_is_one_line_without_the_password(server: Server, way: str) -> None:
    url = wrong(server)[way]
    cache = RedisMappingCache(backends._redis(split(url)), deadline=PATIENT)
    queue = StreaqQueue(backends._redis(split(url)), deadline=PATIENT)
    for store in (cache, queue):
        with pytest.raises(StoreError) as refused:
            await store.ping()
        assert "XsecretX" not in str(refused.value)
        assert PASSWORD not in str(refused.value)
        assert quote(PASSWORD, safe="") not in str(refused.value)
        assert "\n" not in str(refused.value)
        await store.close()
