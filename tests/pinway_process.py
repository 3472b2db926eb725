"""`pinway run` as a separate process, as a new user starts it: embedded stores, demo content."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deploy.stack import ports
from tests.forked import Forked

ROOT = Path(__file__).parents[1]
START_SECONDS = 900
NO_SETTINGS: Mapping[str, str] = {}


def free_port() -> int:
    """A port that no other test gets, and no outgoing connection."""
    return ports.pick(["port"], {}, {})["port"]


@dataclass
class Serving:
    """A gateway that answers at `url`. `token` is its demo viewer's token."""

    process: subprocess.Popen[bytes] | Forked
    url: str
    log: Path
    data: Path

    @property
    def boot(self) -> dict[str, Any]:
        return dict(get_json(f"{self.url}/graphiql/boot.json"))

    @property
    def token(self) -> str:
        return str(self.boot["token"])

    def ask(self, query: str, **variables: Any) -> dict[str, Any]:
        """The response to an operation of the demo viewer."""
        with urllib.request.urlopen(self._request(query, variables), timeout=300) as response:
            return dict(json.load(response))

    def _request(self, query: str, variables: dict[str, Any]) -> urllib.request.Request:
        return urllib.request.Request(
            f"{self.url}/graphql",
            json.dumps({"query": query, "variables": variables}).encode(),
            {"content-type": "application/json", "authorization": f"Bearer {self.token}"},
        )

    def event(self, query: str, **variables: Any) -> dict[str, Any]:
        """The first event of a subscription of the demo viewer."""
        request = self._request(query, variables)
        request.add_header("accept", "text/event-stream")
        with urllib.request.urlopen(request, timeout=300) as response:
            for line in response:
                if line.startswith(b"data:"):
                    return dict(json.loads(line.removeprefix(b"data:")))
        raise AssertionError("the stream ended without an event")

    def stop(self) -> int:
        """Stop it as Ctrl-C does. Returns its exit status."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(300)


@contextmanager
def serving(
    data: Path,
    *,
    port: int | None = None,
    python: str = sys.executable,
    cwd: Path = ROOT,
    verb: str = "run",
    environment: Mapping[str, str] = NO_SETTINGS,
    typed: bool = False,
) -> Iterator[Serving]:
    """`pinway run` (or `serve`) on a data directory, ready. `environment` has settings. It is
    killed at the end if it still runs.

    The gateway is forked (tests/forked.py). With `typed`, another Python or another folder,
    it starts as a shell starts it.
    """
    port = port or free_port()
    log = data.parent / f"{data.name}.log"
    words = ["pinway", verb, "--data-dir", str(data), "--port", str(port)]
    variables = {**os.environ, **environment}
    process: subprocess.Popen[bytes] | Forked
    if typed or (python, cwd) != (sys.executable, ROOT):
        with log.open("ab") as output:
            process = subprocess.Popen(
                [python, "-m", *words],
                cwd=cwd,
                env=variables,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
    else:
        process = Forked(*words, environment=variables, log=log)
    served = Serving(process, f"http://127.0.0.1:{port}", log, data)
    try:
        wait_until_ready(served)
        yield served
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def wait_until_ready(served: Serving) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        if served.process.poll() is not None:
            raise AssertionError(f"the gateway ended:\n{served.log.read_text()[-3000:]}")
        try:
            get_json(f"{served.url}/readyz")
            return
        except OSError:
            if time.monotonic() > deadline:
                raise AssertionError(served.log.read_text()[-3000:]) from None
            time.sleep(0.05)  # nothing tells when a process begins to listen


def get_json(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=120) as response:
        return json.load(response)
