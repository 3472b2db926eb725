"""Metrics as text in Prometheus' format, written in slices: other requests proceed meanwhile."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping

from prometheus_client import generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

SLICE = 100
"""Samples that are written in one turn of the event loop: about half a millisecond."""


class _Of(Collector):
    """A collector of one family, as `generate_latest` takes it."""

    def __init__(self, family: Metric) -> None:
        self._family = family

    def collect(self) -> Iterable[Metric]:
        return (self._family,)


async def written(families: Iterable[Metric]) -> bytes:
    """The families as text."""
    parts: list[bytes] = []
    for family in families:
        samples = family.samples
        for first in range(0, max(len(samples), 1), SLICE):
            some = Metric(family.name, family.documentation, family.type)
            some.samples = samples[first : first + SLICE]
            text = generate_latest(_Of(some))
            parts.append(text if not first else _without_head(text))
            await asyncio.sleep(0)
    return b"".join(parts)


async def of_workers(texts: Mapping[int, bytes | None]) -> bytes:
    """The metrics of several workers as one text: each sample has the label `worker`. `texts` has
    each worker's metrics by the worker's number, or None if the worker did not answer: then
    `pinway_worker_up{worker}` is 0.

    The texts are joined line by line: to parse them would take twenty times as long.
    """
    up = GaugeMetricFamily(
        "pinway_worker_up", "Whether the worker answered within a second.", labels=["worker"]
    )
    families: dict[bytes, list[bytes]] = {}
    for number, text in sorted(texts.items()):
        up.add_metric([str(number)], text is not None)
        label = b'worker="%d"' % number
        head: list[bytes] = []
        samples: list[bytes] = []
        async for line in _lines(text or b""):
            if line.startswith(b"# TYPE"):  # the last line of a family's head
                samples = families.setdefault(line, [*head, line])
                head = []
            elif line.startswith(b"#"):
                head.append(line)
            else:
                samples.append(_labelled(line, label))
    parts = [b"\n".join(lines) + b"\n" for lines in families.values()]
    return b"".join([generate_latest(_Of(up)), *parts])


async def _lines(text: bytes) -> AsyncIterator[bytes]:
    for number, line in enumerate(text.splitlines()):
        if number % (10 * SLICE) == 10 * SLICE - 1:
            await asyncio.sleep(0)
        if line:
            yield line


def _labelled(sample: bytes, label: bytes) -> bytes:
    """A sample's line with one more label."""
    at = sample.rfind(b"}")
    if at >= 0:
        return b"%b,%b%b" % (sample[:at], label, sample[at:])
    name, _, value = sample.partition(b" ")
    return b"%b{%b} %b" % (name, label, value)


def _without_head(text: bytes) -> bytes:
    return b"".join(line for line in text.splitlines(keepends=True) if not line.startswith(b"#"))
