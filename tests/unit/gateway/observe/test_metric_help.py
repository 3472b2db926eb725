"""Each counter has a help text, and each help text a counter."""

from dataclasses import fields

from feed_engine.speculation import Stats
from gateway.documents import cache
from gateway.observe import metric_help


def test_every_count_of_the_races_has_a_help_text() -> None:
    assert metric_help.FEED.keys() == {field.name for field in fields(Stats)}


def test_every_count_of_the_executor_has_a_help_text() -> None:
    assert metric_help.EXECUTOR.keys() == {field.name for field in fields(cache.Stats)}
