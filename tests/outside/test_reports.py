"""The log of public bug reports names only tests that exist, and each report once."""

import re
from pathlib import Path

from tests import forked

HERE = Path(__file__).parent
ROW = re.compile(
    r"^\| (?P<report>[^|]+) \| (?P<tried>[^|]+) \| (?P<result>[^|]+) \|(?P<test>[^|]*)\|$"
)
LEAST = 80
WITH_TESTS = 60


def rows() -> list[dict[str, str]]:
    """The rows of the tables in `reports.md`, without their heads."""
    lines = (HERE / "reports.md").read_text().splitlines()
    tables = [line for line in lines if line.startswith("|")]
    found = []
    for line in tables:
        row = ROW.match(line)
        assert row is not None, f"no row of four cells: {line}"
        cells = {name: cell.strip() for name, cell in row.groupdict().items()}
        if cells["report"] not in ("report", "---"):
            found.append(cells)
    return found


def collected(files: set[str]) -> set[str]:
    """The tests in these files, with and without their parameters."""
    ended = forked.run("pytest", "--collect-only", "-q", *sorted(files))
    assert ended.returncode == 0, ended.stdout[-2000:]
    found = {line.strip() for line in ended.stdout.splitlines() if "::" in line}
    return found | {each.split("[")[0] for each in found}


def test_each_test_that_the_log_names_exists() -> None:
    named = [cells["test"].strip("`") for cells in rows() if cells["test"]]
    known = collected({test.split("::")[0] for test in named})
    assert [test for test in named if test not in known] == []
    assert len(named) >= WITH_TESTS


def test_each_report_is_in_the_log_once_with_a_result() -> None:
    reports = [cells["report"] for cells in rows()]
    assert sorted(reports) == sorted(set(reports))
    assert len(reports) >= LEAST
    assert [cells["report"] for cells in rows() if not cells["result"]] == []


def test_each_report_of_a_table_of_tests_is_in_the_log() -> None:
    log = (HERE / "reports.md").read_text()
    named = set[str]()
    for file in HERE.glob("test_reports_of_*.py"):
        named |= set(
            re.findall(r"^    \"([\w.-]+/[\w.-]+#\d+)\": ", file.read_text(), re.MULTILINE)
        )
    assert len(named) > 50
    assert [report for report in sorted(named) if report not in log] == []
