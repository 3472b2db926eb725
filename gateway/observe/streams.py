"""The metrics of subscriptions and of the streams that carry them."""

from collections.abc import Iterable

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from feed_engine.live.hub import Hub
from gateway.live.open_streams import OpenStreams

KINDS = ("server-sent events", "socket", "subscription")


class StreamCollector(Collector):
    """The open streams of a process, and their events."""

    def __init__(self, streams: OpenStreams, hub: Hub | None) -> None:
        self._streams, self._hub = streams, hub

    def collect(self) -> Iterable[Metric]:
        opened = GaugeMetricFamily(
            "pinway_streams_open", "Open streams and subscriptions, by kind.", labels=["kind"]
        )
        for kind in KINDS:
            opened.add_metric([kind], self._streams.open[kind])
        yield opened
        counts = [
            ("events", "Events that were delivered to subscriptions.", self._streams.events),
            (
                "streams_refused",
                "Streams that were refused, because their client had too many.",
                self._streams.refused,
            ),
        ]
        if (hub := self._hub) is not None:
            counts += [
                ("messages", "Published changes that this process heard.", hub.counts.heard),
                (
                    "messages_missed",
                    "Times that published changes may have been lost. All streams were told.",
                    hub.counts.missed,
                ),
                (
                    "messages_overrun",
                    "Times that a stream's reader was so late that it missed changes. It was told.",
                    hub.counts.overrun,
                ),
            ]
        for name, help, count in counts:
            yield CounterMetricFamily(f"pinway_live_{name}", help, value=count)
