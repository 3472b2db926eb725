"""pyarrow, which is large, is there for dumps alone."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[5]


def test_running_pinway_installs_no_pyarrow() -> None:
    assert "\npyarrow==" not in (ROOT / "requirements/run.lock").read_text()
    assert "\npyarrow==" in (ROOT / "requirements/test.lock").read_text()


def test_the_command_imports_pyarrow_when_it_writes() -> None:
    script = "import sys, gateway.cli.dump; print('pyarrow' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
