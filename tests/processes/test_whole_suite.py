"""`make test`: lanes that run side by side, what they tell, and no test without a lane."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import tomllib
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests import __main__ as whole
from tests import lanes, servers
from tests.ended_process import until_ended
from tests.lane_process import Cost, Lane, Outcome, environment
from tests.scale import ALL, SEED, scaled, seed
from tests.servers import STACK

ROOT = Path(__file__).parents[2]
TESTS = """
import os, pytest

def test_passes(): pass
def test_fails(): assert False, "as it should"
@pytest.fixture
def broken(): raise KeyError("gone")
def test_errs(broken): pass
@pytest.mark.skip(reason="no")
def test_is_skipped(): pass
"""
HANGS = """
import pathlib, subprocess, pytest, uvloop

@pytest.mark.timeout(1)
def test_waits_for_nothing():
    server = subprocess.Popen(["sleep", "600"])
    pathlib.Path(__file__).with_name("server").write_text(str(server.pid))
    loop = uvloop.new_event_loop()
    loop.run_until_complete(loop.create_future())
"""
INTERRUPTED = """
import sys
from pathlib import Path
from tests import __main__ as whole

whole.arguments = lambda lane: ["-c", "/dev/null", f"{sys.argv[1]}/test_{lane}.py"]
whole.heed_interrupts()
suite = whole.Suite(Path(sys.argv[1]))
sys.exit(whole.run(suite, ["waiting", "failing"]))
"""
WAITING = """
import pytest, subprocess, sys

@pytest.fixture
def child():
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    print("child", process.wait())

def test_waits(child, capfd):
    with capfd.disabled():
        print("process", child.pid, flush=True)
    child.wait()
"""


def lane(tmp_path: Path, text: str, *options: str) -> tuple[Outcome, list[str], str]:
    """The outcome of a lane with one file, the failures that it told at once, and its output."""
    (tmp_path / "test_some.py").write_text(text)
    arguments = [
        "-c",
        "/dev/null",
        "--rootdir",
        str(tmp_path),
        *options,
        str(tmp_path / "test_some.py"),
    ]
    ran, told = Lane("some", arguments, tmp_path / "output", environment()), list[str]()
    return ran.follow(told.append), told, (tmp_path / "output").read_text()


def test_a_lane_tells_how_many_tests_ended_how_and_which_failed(tmp_path: Path) -> None:
    outcome, told, printed = lane(tmp_path, TESTS)
    assert outcome.ended == {"passed": 1, "failed": 2, "skipped": 1}
    assert outcome.failed == told
    assert [line.partition("::")[2] for line in told] == [
        "test_fails: AssertionError: as it should",
        "test_errs: KeyError: 'gone'",
    ]
    assert "as it should" in printed
    assert list(outcome.files) == ["test_some.py"]
    assert outcome.processor > outcome.files["test_some.py"].processor > 0


def test_a_file_that_can_not_be_collected_is_a_failure(tmp_path: Path) -> None:
    outcome, _, _ = lane(tmp_path, "import nothing_of_this_name")
    assert outcome.ended["failed"] > 0
    assert "nothing_of_this_name" in " ".join(outcome.failed)


def test_a_process_that_dies_is_a_failure_that_names_its_test(tmp_path: Path) -> None:
    outcome, told, _ = lane(tmp_path, "import os\ndef test_dies(): os._exit(7)")
    assert outcome.ended == {"failed": 1}
    assert told == ["the lane some ended with status 7, while test_some.py::test_dies ran"]


def test_a_test_that_hangs_ends_its_lane_and_the_lanes_processes(tmp_path: Path) -> None:
    set_up = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    outcome, told, printed = lane(
        tmp_path, HANGS, "-o", f"timeout_method={set_up['timeout_method']}"
    )
    assert outcome.ended == {"failed": 1}
    running = "while test_some.py::test_waits_for_nothing ran"
    assert told == [f"the lane some ended with status 1, {running}"]
    assert "run_until_complete(loop.create_future())" in printed
    asyncio.run(until_ended(int((tmp_path / "server").read_text())))


def test_a_lane_without_tests_is_a_failure(tmp_path: Path) -> None:
    outcome, told, _ = lane(tmp_path, "")
    assert outcome.ended == {"failed": 1}
    assert told == ["the lane some ended with status 5"]


def test_a_signal_ends_everything_also_in_the_background(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(INTERRUPTED)
    (tmp_path / "test_waiting.py").write_text(WAITING)
    (tmp_path / "test_failing.py").write_text("def test_fails(): assert False, 'at once'")
    process = subprocess.Popen(  # as a shell starts a background job, which ignores SIGINT
        ["sh", "-c", 'trap "" INT; exec "$0" "$@"', sys.executable, "script.py", str(tmp_path)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    lines = []
    for line in process.stdout:
        lines.append(line)
        if line.startswith("failing: "):
            break
    waiting = tmp_path / "waiting.txt"
    while not (waiting.exists() and "process " in waiting.read_text()):
        assert process.poll() is None
    child = int(waiting.read_text().partition("process ")[2].split()[0])
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate()
    assert process.returncode == 130, rest
    assert [line for line in lines if line.startswith("FAILED ")]
    assert rest.splitlines()[0] == "stopped: ending what runs"
    assert rest.splitlines()[-1] == "0 passed, 1 failed"
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_the_last_line_counts_passed_and_failed_tests() -> None:
    assert whole.summary(Counter(passed=5)) == "5 passed, 0 failed"
    assert whole.summary(Counter(passed=5, failed=1, skipped=2)) == "5 passed, 1 failed, 2 skipped"


def test_the_files_that_took_longest_are_told_the_slowest_first() -> None:
    many = {f"file_{n}": Cost(seconds=n, processor=1.0) for n in range(40)}
    told = whole.slowest([Outcome(files=many), Outcome(files={"slow": Cost(99.0, 2.0)})])
    assert [line.split()[-1] for line in told][:3] == ["slow", "file_39", "file_38"]
    assert len(told) == 30


@pytest.mark.parametrize("failing", ["http", "alone", None])
def test_all_lanes_run_alone_comes_last_and_a_failure_in_any_is_the_exit_status(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    failing: str | None,
) -> None:
    ran = []

    class Done:
        def __init__(self, name: str, arguments: Any, output: Path, environment: Any) -> None:
            ran.append(name)
            self.name, self.output = name, output
            output.write_text("the report\n")

        def follow(self, failed: Any) -> Outcome:
            if self.name != failing:
                return Outcome(Counter(passed=2))
            failed("a::b: no")
            return Outcome(Counter(passed=1, failed=1), ["a::b: no"])

    monkeypatch.setattr(whole, "Lane", Done)
    assert whole.main([]) == (1 if failing else 0)
    assert sorted(ran) == sorted(lanes.LANES)
    assert ran[-1] == lanes.LAST
    told = capsys.readouterr().out.splitlines()
    assert told.count("FAILED a::b: no") == (2 if failing else 0)
    passed = 2 * len(ran) - (1 if failing else 0)
    assert told[-1] == f"{passed} passed, {1 if failing else 0} failed"


def test_lanes_on_one_stack_find_the_same_servers_which_end_with_the_suite(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given = dict[str, str | None]()
    running = set[str]()

    class Starting:
        def __init__(self, name: str, arguments: Any, output: Path, environment: Any) -> None:
            self.name, self.output = name, output
            given[name] = environment.get(STACK)

        def follow(self, failed: Any) -> Outcome:
            if stack := given[self.name]:
                Path(stack).mkdir(exist_ok=True)
                (Path(stack) / "stack.json").touch()
                running.add(stack)
            return Outcome(Counter(passed=1))

    class Servers:
        @classmethod
        def open(cls, folder: Path) -> Any:
            return SimpleNamespace(services={}, down=lambda: running.remove(str(folder)))

    monkeypatch.delenv(STACK, raising=False)
    monkeypatch.setattr(whole, "Lane", Starting)
    monkeypatch.setattr(servers, "Stack", Servers)
    assert whole.run(whole.Suite(tmp_path), ["http", "real", lanes.LAST]) == 0
    assert given == {"http": None, "real": given["real"], lanes.LAST: given["real"]}
    assert given["real"] is not None
    assert not running


def test_lanes_on_one_stack_run_one_after_the_other_beside_other_lanes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    beside, most = threading.Barrier(3), 0  # a lane on the stack, and two others

    class Starting:
        def __init__(self, name: str, arguments: Any, output: Path, environment: Any) -> None:
            nonlocal most
            self.name, self.output = name, output
            running = {name, *(lane.name for lane in suite._running)}
            most = max(most, len(running & lanes.ON_ONE_STACK))

        def follow(self, failed: Any) -> Outcome:
            if self.name != "clusters":
                beside.wait(60)
            return Outcome(Counter(passed=1))

    monkeypatch.setattr(whole, "Lane", Starting)
    monkeypatch.setattr(whole, "WORKERS", 4)
    suite = whole.Suite(tmp_path)
    suite.run(["real", "clusters", "http", "units"])
    assert len(suite.outcomes) == 4
    assert most == 1


def item(path: str, *fixtures: str, **params: Any) -> pytest.Item:
    """A test that asks for these fixtures, with these parameters."""
    made = SimpleNamespace(
        path=lanes.TESTS / path,
        fixturenames=fixtures,
        callspec=SimpleNamespace(params=params),
    )
    return cast(pytest.Item, made)


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        (item("contract/test_eras.py", "deployment", deployment="sqlite"), "stores"),
        (item("contract/test_eras.py", "deployment", deployment="mysql"), "databases"),
        (item("contract/test_switches.py", "databases"), "databases"),
        (item("contract/test_job_queue.py", server="redis"), "clusters"),
        (item("contract/test_seen.py", stores="hbase"), "clusters"),
        (item("real/test_round_trips.py", "databases", "caches", "clusters"), "real"),
        (item("run/test_workers.py", "databases", "caches", "clusters"), "clusters"),
        (item("run/test_run.py", number=3), "run"),
        (item("drills/test_drills.py", "clusters"), "alone"),
    ],
)
def test_a_test_is_in_the_lane_that_has_its_servers(test: pytest.Item, expected: str) -> None:
    assert lanes.lane_of(test) == expected


def test_lanes_of_one_processor_run_on_one_that_this_process_may_use() -> None:
    assert lanes.LANES.keys() >= lanes.ON_ONE_PROCESSOR
    assert lanes.processors_of("feeds", {1, 3}) == {3}
    assert lanes.processors_of("units", {1, 3}) == {1, 3}


def test_a_test_that_its_lane_would_not_find_is_refused() -> None:
    with pytest.raises(pytest.UsageError, match=r"tests/lanes\.py"):
        lanes.lane_of(item("http/test_cost.py", "clusters"))


def test_each_file_is_in_one_lane_and_each_name_of_a_lane_exists() -> None:
    own = [path for lane in lanes.LANES.keys() - lanes.ON_SERVERS for path in lanes.files(lane)]
    assert sorted(own) == sorted(lanes.TESTS.rglob("test_*.py"))
    assert all((lanes.TESTS / name).exists() for names in lanes.LANES.values() for name in names)


def test_a_full_disk_is_told_before_the_first_test(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(whole, "NEEDED", 10**9)
    assert whole.main([]) == 1
    assert "GB free, and the tests need 1000000000 GB" in capsys.readouterr().out


def test_everything_runs_more_cases_with_another_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ALL, raising=False)
    assert (scaled(2, 9), seed("some")) == (2, "some")
    monkeypatch.setenv(ALL, "1")
    monkeypatch.setenv(SEED, "abc")
    assert (scaled(2, 9), seed("some")) == (9, "abc-some")
