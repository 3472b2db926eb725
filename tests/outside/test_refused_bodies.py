"""Clients read why a body is refused, although they send all of it before they read."""

import json
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.outside.node_tools import run_client
from tests.pinway_process import Serving

SIZES = (1_500_000, 11_000_000, 40_000_000)
"""Bytes of bodies that are too large for an operation."""
WORDS = "the body is larger than 1000000 bytes"
PICTURE = "the body is larger than 10000000 bytes"


def upload(gateway: Serving) -> str:
    made = gateway.ask("mutation { createUpload(input: {}) { url } }")
    url: str = made["data"]["createUpload"]["url"]
    return url


def message(body: bytes | str) -> str:
    found: str = json.loads(body)["errors"][0]["message"]
    return found


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("connection", ["keep-alive", "close"])
def test_httpx_reads_the_refusal(
    demo_gateway: Serving, size: int, chunked: bool, connection: str
) -> None:
    headers = {"connection": connection, "content-type": "application/json"}
    body: Any = (bytes(100_000) for _ in range(size // 100_000)) if chunked else bytes(size)
    sent = httpx.post(f"{demo_gateway.url}/graphql", content=body, headers=headers, timeout=300)
    assert sent.status_code == 413
    assert message(sent.content) == WORDS


@pytest.mark.parametrize("header", ["expect: 100-continue", "expect:", "connection: close"])
def test_curl_reads_the_refusal_of_a_picture(
    demo_gateway: Serving, tmp_path: Path, header: str
) -> None:
    large, answer = tmp_path / "large", tmp_path / "answer"
    large.write_bytes(bytes(40_000_000))
    command = [
        "curl",
        "--silent",
        "--show-error",
        "--write-out",
        "%{http_code}",
        "--header",
        header,
    ]
    command += ["--output", str(answer), "--upload-file", str(large), upload(demo_gateway)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "413", "")
    assert message(answer.read_bytes()) == PICTURE


def test_an_upload_to_a_wrong_address_is_refused_before_its_body_has_come(
    demo_gateway: Serving,
) -> None:
    for connection in ("keep-alive", "close"):
        wrong, headers = f"{upload(demo_gateway)}x", {"connection": connection}
        sent = httpx.put(wrong, content=bytes(9_000_000), headers=headers, timeout=300)
        assert sent.status_code == 404
        assert message(sent.content).startswith("there is no such upload")


def test_fetch_in_node_reads_the_refusal(demo_gateway: Serving, demo_token: str) -> None:
    seen = run_client("refused", demo_gateway.url, demo_token, UPLOAD=upload(demo_gateway))
    assert seen["operations"] == [[413, WORDS]] * len(seen["operations"])
    assert seen["pictures"] == [[413, PICTURE]] * len(seen["pictures"])
    assert min(len(seen["operations"]), len(seen["pictures"])) == 3
