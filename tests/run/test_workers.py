"""`pinway serve --workers`: several processes on one port, over the real servers."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from click.testing import CliRunner, Result

from datasources.mysql import MySqlShards
from datasources.topology import Topology, parse
from deploy.stack import Stack
from feed_engine.outbox.change import KIND, Change, encode
from gateway.cli import main
from gateway.server.protocol import DRAIN_SECONDS
from gateway.settings import Settings
from tests import forked
from tests.forked import Forked
from tests.pinway_process import ROOT, free_port
from tests.real.configurations import SHARDS, first_shard, real_settings
from tests.stopped_process import stop_process

pytestmark = pytest.mark.anyio
QUERY = {"query": "{ viewer { id } __typename }"}
ANSWER = {"data": {"viewer": None, "__typename": "Query"}}
DEADLINE = 600.0
RELAYS = "this process relays the outbox"


@dataclass
class Workers:
    """`pinway serve --workers` at `url`."""

    process: subprocess.Popen[bytes] | Forked
    url: str
    log: Path

    def pids(self) -> set[int]:
        """The processes that it started and that are still running."""
        return set(children(self.process.pid))

    def answering(self) -> int:
        """The process that answers a new connection."""
        return int(httpx.get(f"{self.url}/healthz", timeout=300).json()["process"])

    def numbered(self) -> dict[int, int]:
        """The most recently started process of each worker, by the worker's number."""
        told = re.findall(r"worker (\d+) is process (\d+)", self.log.read_text())
        return {int(number): int(pid) for number, pid in told}

    def polling(self) -> set[int]:
        """The numbers of the workers that have read due outbox rows."""
        told = httpx.get(f"{self.url}/metrics", timeout=300).text
        lines = re.findall(r"^pinway_store_call_duration_seconds_count{(.*)} ", told, re.MULTILINE)
        return {
            int(found[1])
            for labels in lines
            if 'operation="due"' in labels and (found := re.search(r'worker="(\d+)"', labels))
        }

    def ready(self) -> int:
        """How many times a worker reported that it is ready."""
        return self.log.read_text().count("is ready")


@pytest.fixture(scope="module")
def settings(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    directory = tmp_path_factory.mktemp("workers")
    return real_settings(stack, directory, first_shard(stack))


@pytest.fixture(scope="module")
def config(settings: Settings) -> Path:
    """The settings as a file, with created stores."""
    path = settings.data_dir / "workers.toml"
    tables = settings.model_dump(mode="json", exclude_unset=True)
    lines = [f"data_dir = {json.dumps(tables.pop('data_dir'))}"]
    for table, values in tables.items():
        lines += [f"{table}.{name} = {json.dumps(value)}" for name, value in values.items()]
    path.write_text("\n".join(lines))
    assert pinway("init", "--config", str(path)).exit_code == 0
    return path


def topology_of(settings: Settings) -> Topology:
    return parse(Path(urlsplit(settings.stores.topology).path).read_bytes())


@asynccontextmanager
async def shards_of(settings: Settings) -> AsyncIterator[MySqlShards]:
    login = settings.mysql.user, settings.mysql.password
    shards = MySqlShards(topology_of(settings), user=login[0], password=login[1])
    try:
        yield shards
    finally:
        await shards.close()


async def left_behind(shards: MySqlShards, served: Workers) -> None:
    """Leave committed writes unfinished, as a process that dies does. Wait until they are
    completed."""
    first = shards.objects.topology().shards[0].range[0]
    for shard in range(first, first + SHARDS):
        await shards.objects.transact(shard, lambda tx: tx.post(KIND, encode(Change())))
    deadline = time.monotonic() + DEADLINE
    while (await shards.outbox.backlog()).rows:
        assert time.monotonic() < deadline, served.log.read_text()[-3000:]
        await asyncio.sleep(0.1)


@pytest.fixture(scope="module")
def served(config: Path) -> Iterator[Workers]:
    """Two workers, which tests share that leave two workers. At the end Ctrl-C stops them."""
    with serving(config, 2) as served:
        yield served
        stop_cleanly(served, signal.SIGINT)


@pytest.fixture
def relaying(config: Path) -> Path:
    """The settings of gateways that run jobs, and often look for unfinished work."""
    path = config.with_name("relaying.toml")
    lines = [line for line in config.read_text().splitlines() if not line.startswith("jobs.run")]
    lines += ["jobs.run = true", "jobs.relay_seconds = 0.2", "mysql.processes = 20"]
    path.write_text("\n".join(lines))
    return path


def pinway(*arguments: str) -> Result:
    """A command that ends by itself. Nothing of it needs a process of its own."""
    return CliRunner().invoke(main, arguments)


@contextmanager
def serving(
    config: Path,
    workers: int,
    *,
    sigint: signal.Handlers = signal.SIG_DFL,
    typed: bool = False,
) -> Iterator[Workers]:
    """Workers, all ready. They are killed at the end if they still run. The supervisor and they are
    forked, unless they are to run as `typed`."""
    port = free_port()
    log = config.with_name(f"workers-{port}.log")
    log.touch()
    words = ("serve", "--config", str(config), "--port", str(port), "--workers", str(workers))
    process: subprocess.Popen[bytes] | Forked
    if typed:
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "gateway", *words],
                cwd=ROOT,
                stdout=output,
                stderr=output,
                preexec_fn=lambda: signal.signal(signal.SIGINT, sigint),  # whatever ours is
            )
    else:
        warm = ("tests.run.warm_supervisor", str(int(sigint)))
        process = Forked(*warm, *words, environment=os.environ, log=log)
    served = Workers(process, f"http://127.0.0.1:{port}", log)
    first: set[int] = set()
    try:
        until(lambda: served.ready() >= workers, served)
        first = served.pids()
        yield served
    finally:
        left = served.pids() | first  # which a killed supervisor can't own any longer
        if process.poll() is None:
            process.kill()
            process.wait()
        for pid in left:
            if alive(pid):
                os.kill(pid, signal.SIGKILL)


def until(condition: Callable[[], bool], served: Workers) -> None:
    deadline = time.monotonic() + DEADLINE
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(served.log.read_text()[-3000:])
        time.sleep(0.1)  # nothing tells what another process has come to


def children(pid: int) -> list[int]:
    """The running processes that a process started."""
    found = (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())
    return [child for child in found if state_of(child)[1:] == (str(pid),)]


def state_of(pid: int) -> tuple[str, ...]:
    """The state and the parent of a process; nothing if it has ended."""
    try:
        state, parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return ()
    return () if state == "Z" else (state, parent)


def alive(pid: int) -> bool:
    return bool(state_of(pid))


def stop_cleanly(served: Workers, stop: signal.Signals) -> None:
    """Stop the supervisor, and see that every worker ends with it. Tests that end so, with each
    signal, try what an interactive shell starts, and what a shell starts as a background command,
    with SIGINT ignored (`serving`)."""
    pids = served.pids()
    told = len(served.log.read_text())
    served.process.send_signal(stop)
    assert served.process.wait(600) == 0
    assert not any(alive(pid) for pid in pids)
    log = served.log.read_text()[told:]
    assert "Traceback" not in log
    assert "killed" not in log


def answered(metrics: str) -> float:
    """The number of requests that workers have answered with success."""
    counts = re.findall(r'pinway_http_request_duration_seconds_count{.*"200".*} (\S+)', metrics)
    return sum(map(float, counts))


def test_each_worker_answers_on_the_one_port(served: Workers) -> None:
    pids = served.pids()
    assert len(pids) == 2
    seen: set[int] = set()

    def both_answered() -> bool:
        seen.add(served.answering())
        return seen == pids

    until(both_answered, served)
    before = answered(httpx.get(f"{served.url}/metrics", timeout=300).text)
    answer = httpx.post(f"{served.url}/graphql", json=QUERY, timeout=300)
    assert answer.json() == ANSWER
    for _ in range(6):  # whichever worker it reaches
        told = httpx.get(f"{served.url}/metrics", timeout=300).text
        assert answered(told) == before + 1
        assert told.count("pinway_worker_up{") == 2
        assert told.count("\npinway_ready 1.0\n") == 1  # the stores' state is everybody's
        assert set(re.findall(r'pinway_queue_jobs{(\w+)="', told)) == {"priority"}
        lags = re.findall(r'pinway_event_loop_lag_seconds_count{worker="(\d)"}', told)
        assert sorted(lags) == ["1", "2"]


def test_a_killed_worker_is_started_again_and_a_hang_up_stops_none(served: Workers) -> None:
    before, ready = served.pids(), served.ready()
    killed = served.answering()
    os.kill(killed, signal.SIGKILL)
    until(lambda: not alive(killed), served)
    for _ in range(50):
        answer = httpx.post(f"{served.url}/graphql", json=QUERY, timeout=300)
        assert (answer.status_code, answer.json()) == (200, ANSWER)
    until(lambda: served.ready() == ready + 1, served)
    after = served.pids()
    assert len(after) == 2
    assert len(after - before) == 1
    assert f"process {killed}) ended with status -9" in served.log.read_text()

    # A hang-up stops neither the supervisor nor a worker.
    for pid in (served.process.pid, *after):
        os.kill(pid, signal.SIGHUP)
    until(lambda: served.log.read_text().count("SIGHUP is ignored") == 3, served)
    assert served.pids() == after
    assert httpx.post(f"{served.url}/graphql", json=QUERY, timeout=300).json() == ANSWER


def test_a_hang_up_makes_every_worker_read_its_trusted_documents_again(
    config: Path, tmp_path: Path
) -> None:
    manifest, own = tmp_path / "persisted.json", tmp_path / "trusted.toml"
    manifest.write_text('{"one": "{ __typename }"}')
    own.write_text(f"http.trusted_documents = [{json.dumps(str(manifest))}]\n{config.read_text()}")

    def refused(id_: str) -> set[bool]:
        """Whether workers refuse the id, from more connections than one worker gets."""
        answers = [
            httpx.post(f"{served.url}/graphql", json={"documentId": id_}, timeout=300)
            for _ in range(20)
        ]
        return {"errors" in answer.json() for answer in answers}

    with serving(own, 2, sigint=signal.SIG_IGN) as served:
        assert (refused("one"), refused("two")) == ({False}, {True})
        manifest.write_text('{"two": "{ __typename }"}')
        served.process.send_signal(signal.SIGHUP)
        until(lambda: served.log.read_text().count("SIGHUP: read") == 3, served)
        assert (refused("one"), refused("two")) == ({True}, {False})

        manifest.write_text("{")
        served.process.send_signal(signal.SIGHUP)
        until(lambda: "stay as they were" in served.log.read_text(), served)
        assert refused("two") == {False}
        assert served.log.read_text().count("stay as they were") == 1

        manifest.write_text('{"three": "{ __typename }"}')
        killed = min(served.pids())
        os.kill(killed, signal.SIGKILL)  # a worker that starts has no handler of the signal yet
        until(lambda: len(served.pids()) == 2 and killed not in served.pids(), served)
        served.process.send_signal(signal.SIGHUP)
        until(lambda: served.ready() == 3, served)
        until(lambda: served.log.read_text().count("SIGHUP: read") >= 5, served)
        assert (refused("two"), refused("three")) == ({True}, {False})
        assert served.log.read_text().count("ended with status") == 1
        stop_cleanly(served, signal.SIGINT)


def test_the_supervisor_stays_until_its_slowest_worker_has_stopped(config: Path) -> None:
    with serving(config, 2, typed=True) as served:
        slow, quick = served.pids()
        stop_process(slow)
        served.process.send_signal(signal.SIGTERM)
        until(lambda: not alive(quick), served)
        with pytest.raises(subprocess.TimeoutExpired):
            served.process.wait(2)
        os.kill(slow, signal.SIGCONT)
        assert served.process.wait(600) == 0
        assert not alive(slow)
        assert "Traceback" not in served.log.read_text()


def test_workers_end_when_their_supervisor_is_killed_and_its_folder_with_the_next_start(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with serving(config, 2, typed=True) as served:
        pids = served.pids()
        [left] = tmp_path.glob("pinway-*")
        served.process.kill()
        served.process.wait()
        until(lambda: not any(alive(pid) for pid in pids), served)
        assert left.exists()
    with serving(config, 2, sigint=signal.SIG_IGN) as served:
        [own] = tmp_path.glob("pinway-*")
        assert own != left
        stop_cleanly(served, signal.SIGTERM)
        assert not own.exists()


def test_what_keeps_the_first_worker_from_starting_is_said_once(config: Path) -> None:
    broken = config.with_name("broken.toml")
    lines = [
        line for line in config.read_text().splitlines() if not line.startswith("stores.topology")
    ]
    broken.write_text("\n".join([*lines, 'stores.topology = "file:///nowhere/topology.json"']))
    command = ["serve", "--config", str(broken), "--port", str(free_port()), "--workers", "3"]
    failed = forked.run("tests.run.warm_supervisor", "0", *command)
    assert failed.returncode == 1
    assert failed.stderr.count("/nowhere/topology.json") == 1, failed.stderr
    assert "Traceback" not in failed.stderr


@pytest.mark.parametrize(
    ("store", "named"),
    [
        ("", "topology, object_cache, mapping_cache, queue, pools_primary"),
        ('stores.mapping_cache = "embedded"', "mapping_cache"),
        ('stores.feeds_standby = "rocksdb:///somewhere"', "feeds_standby"),
        ('stores.object_cache = "memory://?max_bytes=1000000"', "object_cache"),
    ],
)
def test_stores_of_one_process_are_refused_in_one_line(
    config: Path, tmp_path: Path, store: str, named: str
) -> None:
    mixed = tmp_path / "mixed.toml"
    name = store.partition(" ")[0]
    lines = [line for line in config.read_text().splitlines() if not line.startswith(name)]
    mixed.write_text("\n".join([*lines, store]) if store else "")
    data = tmp_path / "data"
    failed = pinway(
        *("serve", "--config", str(mixed), "--data-dir", str(data)),
        *("--port", str(free_port()), "--workers", "2"),
    )
    lines = failed.stderr.splitlines()
    assert (failed.exit_code, len(lines)) == (1, 1), failed.stderr
    assert f"2 workers can't share {named}" in lines[0]
    assert "--workers 1" in lines[0]
    assert not data.exists()


def test_shards_in_sqlite_are_of_one_process(config: Path, tmp_path: Path) -> None:
    mixed, topology = tmp_path / "mixed.toml", tmp_path / "topology.json"
    content = {
        "epoch": 1,
        "servers": {"one": f"sqlite://{tmp_path}/one"},
        "shards": [{"range": [0, 7], "master": "one"}],
        "mod": {"count": 1, "ranges": [{"range": [0, 0], "master": "one"}]},
    }
    topology.write_text(json.dumps(content))
    lines = [
        line for line in config.read_text().splitlines() if not line.startswith("stores.topology")
    ]
    mixed.write_text("\n".join([*lines, f'stores.topology = "file://{topology}"']))
    failed = pinway("serve", "--config", str(mixed), "--port", str(free_port()), "--workers", "2")
    assert "can't share topology:" in failed.stderr


async def test_one_worker_relays_and_another_takes_over_when_it_is_killed(
    relaying: Path, settings: Settings
) -> None:
    async with shards_of(settings) as shards:
        with serving(relaying, 3) as served:
            until(lambda: bool(served.polling()), served)
            [first] = served.polling()
            await left_behind(shards, served)
            assert served.polling() == {first}
            log = served.log.read_text()
            assert log.count(RELAYS) == 1
            assert log.count("20 processes with up to 32 connections") == 1, log
            os.kill(served.numbered()[first], signal.SIGKILL)
            await left_behind(shards, served)
            until(lambda: served.ready() == 4, served)
            assert len(served.polling()) == 1
            assert served.log.read_text().count(RELAYS) == 2


async def test_a_rolling_restart_of_two_workers_under_load_fails_no_request(
    served: Workers,
) -> None:
    stopped = asyncio.Event()

    async def ask() -> int:
        """Send requests over one connection as long as it lasts. Returns their number. Without
        retries, unless a busy machine kept the client from its next request for so long that a
        worker which stops may close the connection."""
        asked, answered = 0, time.monotonic()
        async with httpx.AsyncClient(timeout=300) as client:
            while not stopped.is_set():
                try:
                    answer = await client.post(f"{served.url}/graphql", json=QUERY)
                except (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError):
                    if time.monotonic() - answered < DRAIN_SECONDS:
                        raise
                    answered = time.monotonic()
                    continue
                assert (answer.status_code, answer.json()) == (200, ANSWER)
                asked, answered = asked + 1, time.monotonic()
                await asyncio.sleep(0.02)  # leaves the workers time to start
        return asked

    async def restart() -> None:
        for ready, pid in enumerate(sorted(served.pids()), served.ready() + 1):
            os.kill(pid, signal.SIGTERM)
            await asyncio.to_thread(until, lambda n=ready: served.ready() == n, served)
        stopped.set()

    before = served.pids()
    async with asyncio.TaskGroup() as tasks:
        clients = [tasks.create_task(ask()) for _ in range(8)]
        tasks.create_task(restart())
    assert len(served.pids() - before) == 2
    assert min(client.result() for client in clients) > 10
