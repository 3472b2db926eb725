"""A Prometheus server with the project's configuration and alerts, which scrapes one gateway."""

import json
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

import deploy
from tests.pinway_process import free_port
from tests.telemetry.promtool import promtool

CONFIGURATION = Path(deploy.__file__).parent / "prometheus" / "prometheus.yaml"
START_SECONDS = 300


@dataclass
class Prometheus:
    """A server that scrapes, and evaluates the alerts, every two seconds."""

    port: int
    began: float  # epoch seconds

    def fired(self) -> dict[str, tuple[float, dict[str, str]]]:
        """Each alert that fired: epoch seconds of its first time, and its labels at that time."""
        query = urllib.parse.urlencode(
            {
                "query": 'ALERTS{alertstate="firing"}',
                "start": self.began,
                "end": time.time(),
                "step": "1",
            }
        )
        found: dict[str, tuple[float, dict[str, str]]] = {}
        for series in self._get(f"/api/v1/query_range?{query}")["data"]["result"]:
            labels, at = series["metric"], float(series["values"][0][0])
            name = labels["alertname"]
            if name not in found or at < found[name][0]:
                found[name] = at, labels
        return found

    def _get(self, path: str) -> Any:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=60) as response:
            return json.load(response)


@contextmanager
def watching(gateway_port: int, folder: Path) -> Iterator[Prometheus]:
    """A Prometheus that scrapes the gateway on that port. Its data is in the folder."""
    promtool()  # Debian's package has both programs
    settings = yaml.safe_load(CONFIGURATION.read_text())
    settings["global"] = dict.fromkeys(
        ("scrape_interval", "scrape_timeout", "evaluation_interval"), "2s"
    )
    settings["rule_files"] = [str(CONFIGURATION.parent / "rules.yaml")]
    [job] = settings["scrape_configs"]
    job["static_configs"] = [{"targets": [f"127.0.0.1:{gateway_port}"]}]
    folder.mkdir()
    (folder / "prometheus.yaml").write_text(yaml.safe_dump(settings))
    port, log = free_port(), folder / "prometheus.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={folder / 'prometheus.yaml'}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            stdout=output,
            stderr=output,
        )
    try:
        until = time.monotonic() + START_SECONDS
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/-/ready", timeout=30).close()
                break
            except OSError:
                assert process.poll() is None, log.read_text()[-2000:]
                assert time.monotonic() < until, "Prometheus does not become ready"
                time.sleep(0.05)  # nothing tells when it is
        yield Prometheus(port, time.time())
    finally:
        process.terminate()
        process.wait(300)
