"""Hypothesis as the tests use it. A slow machine fails no test. Fewer examples run in `make test`
than in `make test-all`: the same ones each time."""

from hypothesis import HealthCheck, given, settings  # noqa: TID251

from tests.scale import runs_all, scaled

__all__ = ["given", "settings"]

settings.register_profile(
    "pinway",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    max_examples=scaled(40, 200),
    derandomize=not runs_all(),
)
settings.load_profile("pinway")
