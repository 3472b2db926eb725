"""Asks for a short answer about the stores: the gateway that has them open, or the stores."""

from typing import Any

from gateway.operate.progress import run_reporting_waits
from gateway.operate.requests import answer
from gateway.settings import Settings
from gateway.site.embedded_stores import check_made


def asked(settings: Settings, request: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request (see gateway/operate/requests.py). Raises PinwayError."""
    check_made(settings)
    return dict(run_reporting_waits(answer(settings, request, lambda progress: None)))
