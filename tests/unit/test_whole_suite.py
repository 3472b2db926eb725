"""`make test`: one summary of both parts, and no test that belongs to neither part."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests import __main__ as whole
from tests import lanes

REPORT = """<testsuites><testsuite>
<testcase classname="tests.a" name="passes"/>
<testcase classname="tests.a" name="fails"><failure message="one&#10;two"/></testcase>
<testcase classname="tests.a" name="errs"><error message="no"/></testcase>
<testcase classname="tests.a" name="was skipped"><skipped message="no"/></testcase>
<testcase classname="tests.a" name="fails after a skip"><skipped/><failure/></testcase>
</testsuite></testsuites>"""


def test_a_report_says_how_many_tests_ended_how_and_which_failed(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(REPORT)
    ended, failed = whole.read(report)
    assert ended == {"passed": 1, "failed": 3, "skipped": 1}
    assert failed == ["tests.a::fails: one", "tests.a::errs: no", "tests.a::fails after a skip"]


def test_the_last_line_counts_passed_and_failed_tests() -> None:
    assert whole.summary(Counter(passed=5)) == "5 passed, 0 failed"
    assert whole.summary(Counter(passed=5, failed=1, skipped=2)) == "5 passed, 1 failed, 2 skipped"


def test_a_part_that_ends_without_a_report_is_a_failure(tmp_path: Path) -> None:
    status, ended, failed = whole.run(["--no-such-option"], tmp_path / "report.xml")
    assert status != 0
    assert ended == {"failed": 1}
    assert failed == [f"pytest ended with status {status}, without tests"]


@pytest.mark.parametrize(("failing", "status"), [(1, 1), (2, 3), (None, 0)])
def test_all_parts_run_and_a_failure_in_any_is_the_exit_status(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    failing: int | None,
    status: int,
) -> None:
    parts = []

    def run(options: object, report: Path) -> tuple[int, Counter[str], list[str]]:
        parts.append(options)
        if len(parts) == failing:
            return status, Counter(passed=1, failed=1), ["a::b"]
        return 0, Counter(passed=2), []

    monkeypatch.setattr(whole, "run", run)
    assert whole.main() == status
    assert len(parts) == 2
    last = "3 passed, 1 failed" if failing else "4 passed, 0 failed"
    assert capsys.readouterr().out.splitlines()[-1] == last


def test_the_tests_of_the_real_servers_share_a_lane_and_begin_first() -> None:
    servers = [lanes.TESTS / "contract/test_eras.py", lanes.TESTS / "run/test_workers.py"]
    assert {(lanes.lane(path), lanes.rank(path)) for path in servers} == {("servers", 0)}
    assert lanes.lane(lanes.TESTS / "outside/test_urql.py") == "node"
    assert lanes.lane(lanes.TESTS / "unit/test_words.py") == "unit/test_words.py"
    assert lanes.rank(lanes.TESTS / "unit/test_words.py") == len(lanes.LONG) + 1
    assert all(
        (lanes.TESTS / name).exists() for name in (*lanes.ON_SERVERS, *lanes.WITH_NODE, *lanes.LONG)
    )


def test_one_worker_runs_all_tests_of_a_lane() -> None:
    files = ("tests/unit/test_packages.py", "tests/schema", "tests/unit/schema/test_fields.py")
    command = (sys.executable, "-m", "pytest", "-v", "-n", "2", "--dist", "loadscope", *files)
    told = subprocess.run(command, cwd=lanes.TESTS.parent, capture_output=True, text=True).stdout
    ran = re.findall(r"\[(gw\d)\].* PASSED (tests/[\w/.]+)::", told)
    assert {worker for worker, _ in ran} == {"gw0", "gw1"}
    assert len({lane for _, lane in ran}) == len(set(ran)) == 3


def test_every_file_that_asks_for_the_servers_is_in_their_lane() -> None:
    signs = ("stack: " + "Stack", "getfixturevalue(" + '"stack")')
    asking = {
        path.relative_to(lanes.TESTS).as_posix()
        for path in lanes.TESTS.rglob("test_*.py")
        if any(sign in path.read_text() for sign in signs)
    }
    assert asking
    assert {name for name in asking if lanes.lane(lanes.TESTS / name) != "servers"} == set()


def test_a_full_disk_is_told_before_the_first_test(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(whole, "NEEDED", 10**9)
    assert whole.main() == 1
    assert "GB free, and the tests need 1000000000 GB" in capsys.readouterr().out
