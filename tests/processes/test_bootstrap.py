"""A newcomer's first command, before there is any environment."""

import ast
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from checkout import interpreter

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "bootstrap.py"


def bootstrap(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, SCRIPT, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )


def test_the_script_has_the_syntax_of_an_old_python_and_imports_the_standard_library_alone() -> (
    None
):
    imported = set()
    for path in (SCRIPT, *(ROOT / "checkout").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(), feature_version=(3, 6))):
            if isinstance(node, ast.Import):
                imported |= {name.name.partition(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add((node.module or "").partition(".")[0])
    assert "checkout" in imported
    assert imported <= {*sys.stdlib_module_names, "checkout"}


def test_it_runs_where_python_leaves_the_scripts_folder_out_of_its_path() -> None:
    assert bootstrap("help", PYTHONSAFEPATH="1").returncode == 0


def test_it_says_what_it_can_do() -> None:
    done = bootstrap("help")
    assert done.returncode == 0
    assert "pinway run" in done.stdout


def test_an_unknown_command_is_refused_without_a_traceback() -> None:
    done = bootstrap("launch")
    assert done.returncode == 1
    assert done.stderr.startswith("pinway: there is no such command: launch\n")
    assert "Traceback" not in done.stderr


def test_a_long_silent_command_is_told_of() -> None:
    code = (
        "import sys; from checkout import environment; real = environment.subprocess.Popen\n"
        "def say(line):\n"
        "    print(line, flush=True)\n"
        "    if not process.stdin.closed:\n"
        "        process.stdin.write(b'\\n'); process.stdin.close()\n"
        "environment.say = say\n"
        "def begin(*given, **more):\n"
        "    global process; process = real(*given, stdin=-1, **more); return process\n"
        "environment.subprocess.Popen = begin\n"
        "ended = [sys.executable, '-c', 'import sys; sys.stdin.readline(); sys.exit(7)']\n"
        "print(environment.run_told(ended, 'still compiling', 0.5))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    first, *_, last = done.stdout.splitlines()
    assert first.startswith("still compiling, after ")
    assert last == "7"


def test_the_makefile_asks_for_nothing_that_make_3_81_lacks() -> None:
    text = (ROOT / "Makefile").read_text()
    assert not any(word in text for word in (".ONESHELL", "$(file ", "!=", "::=", ".RECIPEPREFIX"))


def test_every_target_of_the_makefile_runs_also_where_a_folder_has_its_name() -> None:
    text = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^([a-z-]+):", text, re.MULTILINE)
    phony = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    assert phony
    assert sorted(phony[1].split()) == sorted(targets)
    assert "docs" in targets


def test_no_process_of_a_compilation_outlives_the_gateway(tmp_path: Path) -> None:
    part = "import signal; print('begun', flush=True); signal.pause()"
    whole = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {part!r}])"
    code = (
        "import sys\n"
        "from checkout import compilation\n"
        f"compilation.BUILD, compilation.LOCK = {str(tmp_path)!r}, {str(tmp_path / 'lock')!r}\n"
        f"compilation.compilation = lambda: [sys.executable, '-c', {whole!r}]\n"
        "compilation.compile_while(int(sys.argv[1]))\n"
    )
    idle = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(idle, stdin=subprocess.PIPE) as gateway:
        compiling = subprocess.Popen(
            [sys.executable, "-c", code, str(gateway.pid)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert compiling.stdout is not None
        assert compiling.stdout.readline() == "begun\n"
    assert compiling.stdout.read() == ""  # at the end of the last process that can write to it
    assert compiling.wait() == 0


def test_all_that_is_compiled_is_looked_at_for_changes() -> None:
    say = (
        "import os; from checkout.compilation import compiled; "
        "print(*(os.path.relpath(path) for path in compiled()))"
    )
    found = subprocess.run(
        [sys.executable, "-c", say], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    folders = ("gateway", "loaders", "datasources")
    declared = [path for folder in folders for path in ROOT.glob(f"{folder}/**/*.pxd")]
    written = [path.with_suffix(".py") for path in declared]
    written += [path for folder in folders for path in ROOT.glob(f"{folder}/**/*.pyx")]
    expected = [*declared, *(path for path in written if path.exists())]
    assert found == sorted(str(path.relative_to(ROOT)) for path in expected)


def test_the_lock_pins_the_uv_that_installs_the_packages_with_its_hashes() -> None:
    say = (
        "import pathlib; from checkout.packages import pinned; "
        "print(pinned('uv', pathlib.Path({!r}).read_text()))"
    )
    code = say.format(str(ROOT / "requirements/test.lock"))
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\n")
    first, *hashes = [line for line in found if line]
    assert first.startswith("uv==")
    assert len(hashes) > 5
    assert all(line.lstrip().startswith("--hash=sha256:") for line in hashes)


HOLD = (
    "import sys; from checkout import compilation\n"
    "compilation.BUILD, compilation.LOCK = sys.argv[1], sys.argv[1] + '/lock'\n"
    "with compilation.only_compilation(end_another=sys.argv[2] == 'end'):\n"
    "    print('holds', flush=True); sys.stdin.read()"
)


def hold(folder: Path, another: str) -> subprocess.Popen[str]:
    """A process that holds the lock of the compilation until its input ends."""
    command = [sys.executable, "-c", HOLD, str(folder), another]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True)


def test_a_compilation_takes_the_place_of_another_in_the_background(tmp_path: Path) -> None:
    with hold(tmp_path, "keep") as behind:
        assert behind.stdout
        assert behind.stdout.readline() == "holds\n"
        with hold(tmp_path, "keep") as second:
            assert second.communicate() == ("", None)
            assert second.returncode == 0
        assert behind.poll() is None
        with hold(tmp_path, "end") as first:
            assert first.communicate() == ("holds\n", None)
        assert behind.wait() == -signal.SIGTERM


def test_packages_are_compiled_at_once_if_python_writes_no_bytecode_here() -> None:
    code = "from checkout.packages import bytecode_option; print(bytecode_option())"
    told = [
        subprocess.run(
            [sys.executable, *options, "-c", code],
            cwd=ROOT,
            env={k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for options in ([], ["-B"])
    ]
    assert told == ["[]", "['--compile-bytecode']"]


@pytest.fixture
def another_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A second interpreter of this version, the only one on the path."""
    path = tmp_path / "python{}.{}".format(*sys.version_info)
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    monkeypatch.delenv("PINWAY_KEEP_PYTHON", raising=False)
    monkeypatch.setattr(interpreter, "NEEDS", "")  # this Python may have no headers
    return str(path)


def speeds(monkeypatch: pytest.MonkeyPatch, other: str, seconds: float) -> None:
    """Let this interpreter need a second for the work, and another one `seconds`."""
    monkeypatch.setattr(
        interpreter,
        "seconds_of_work",
        lambda python: {other: seconds, sys.executable: 1.0}.get(python, 9.0),
    )


def test_a_much_faster_build_of_the_same_python_is_used_and_told(
    another_build: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    speeds(monkeypatch, another_build, 0.5)
    assert interpreter.find_python() == another_build
    told = f"{another_build}, which is 2.0 times as fast as {sys.executable}"
    assert told in capsys.readouterr().err


def test_this_python_is_used_if_it_is_given_or_about_as_fast(
    another_build: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    speeds(monkeypatch, another_build, 0.9)
    assert interpreter.find_python() == sys.executable
    speeds(monkeypatch, another_build, 0.5)
    monkeypatch.setenv("PINWAY_KEEP_PYTHON", "1")
    assert interpreter.find_python() == sys.executable


def test_a_faster_python_that_lacks_something_or_is_of_another_version_is_not_used(
    another_build: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    speeds(monkeypatch, another_build, 0.5)
    monkeypatch.setattr(interpreter, "NEEDS", "import no_such_module")
    assert interpreter.find_python() == sys.executable
    monkeypatch.setattr(interpreter, "NEEDS", "")
    monkeypatch.setattr(
        interpreter, "version_of", lambda it: (3, 14) if it == another_build else (3, 11)
    )
    assert interpreter.find_python() == sys.executable


def test_the_work_takes_some_time_and_a_python_that_fails_takes_forever() -> None:
    assert 0 < interpreter.seconds_of_work(sys.executable) < 60
    assert interpreter.seconds_of_work("/no/such/python") == float("inf")


@pytest.mark.parametrize(
    ("arguments", "kept"), [((), False), (("PYTHON=python3",), True)], ids=["default", "given"]
)
def test_the_makefile_tells_that_a_python_was_given(arguments: tuple[str, ...], kept: bool) -> None:
    code = 'print-kept:\n\t@echo "kept=$$PINWAY_KEEP_PYTHON"\n'
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PINWAY"))}
    done = subprocess.run(
        ["make", "-s", "-f", "Makefile", "-f", "-", "print-kept", *arguments],
        cwd=ROOT,
        env=environment,
        input=code,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == ("kept=1\n" if kept else "kept=\n")
