"""Commands to the process that has the embedded stores open."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from datasources.errors import BadInput
from gateway.operate import control
from gateway.operate.requests import OnProgress

pytestmark = pytest.mark.anyio


async def echo(request: Mapping[str, Any], told: OnProgress) -> Mapping[str, Any]:
    return request


def silent(progress: object) -> None:
    """No progress is shown."""


async def test_requests_and_answers_may_be_long(tmp_path: Path) -> None:
    request = {"command": "reports dismiss", "ids": ["137438953473"] * 100_000}
    async with control.answering(tmp_path, echo):
        assert await control.ask(tmp_path, request, silent) == request


async def test_a_text_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    async with control.answering(tmp_path, echo):
        with pytest.raises(BadInput, match=r"'Zo\\udceb' is not UTF-8: write it in UTF-8"):
            await control.ask(tmp_path, {"operator": "Zo\udceb"}, silent)
