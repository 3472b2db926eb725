"""The parts of the GraphiQL page that need no browser, under Node's own test runner."""

import subprocess

from tests.outside.node_tools import CLIENTS, node


def test_the_page_signs_requests_and_mends_its_tabs() -> None:
    done = subprocess.run(
        [node(), "--test", "--test-reporter=tap", "page.test.mjs"],
        cwd=CLIENTS,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert "# fail 0" in done.stdout
