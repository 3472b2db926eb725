"""The report of a drill: rows for the table, and a plot over time."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape

from bench.drills.faults import Drill, Plan
from bench.drills.judge import Seen
from bench.rows import Row

SETTLED = 2.0  # seconds after which an outage must cost no more time
_POINTS = 450  # points of a line, at most
_WIDTH, _HEIGHT, _LEFT, _TOP, _PLOT, _BARS = 900, 330, 60, 50, 180, 40


@dataclass(frozen=True)
class Outcome:
    """A drill, all its requests, and the counters of the gateway's races during it (`Stats`)."""

    drill: Drill
    plan: Plan
    rate: float  # requests a second
    seen: Sequence[Seen]
    counts: Mapping[str, float]

    def between(self, begin: float, end: float) -> list[Seen]:
        return [one for one in self.seen if begin <= one.due < end]

    def answered(self, begin: float, end: float) -> list[Seen]:
        """The requests of `between` whose answers also came before `end`. A later answer says
        nothing about the fault: the store may have answered as soon as the fault was over."""
        return [one for one in self.between(begin, end) if one.due + one.latency < end]

    @property
    def fault_ends(self) -> float:
        if self.drill.may_fail:
            return min(self.plan.begin + 5.0, self.plan.end)
        return self.plan.end

    @property
    def failed(self) -> list[Seen]:
        """The failures that count. If both sides die in a drill, failures at that time don't
        count."""
        failed = [one for one in self.seen if one.fault]
        if not self.drill.may_fail:
            return failed
        begin, end = self.plan.begin - 1.0, self.fault_ends + SETTLED
        return [one for one in failed if not begin <= one.due < end]

    def share(self, side: str) -> float:
        sides = Counter(name for one in self.seen for name in one.sides)
        return sides[side] / max(1, sum(sides.values()))

    def rows(self) -> Iterator[Row]:
        n, plan = f"{self.drill.number} {self.drill.name}", self.plan
        requests = len(self.seen)
        yield Row(f"{n}: requests", requests, "")
        yield Row(f"{n}: requests a second", self.rate, "")
        yield Row(f"{n}: seconds of the fault", self.fault_ends - plan.begin, "")
        failed = 10_000 * len(self.failed) / max(1, requests)
        yield Row(f"{n}: failed", len(self.failed), "")
        yield Row(f"{n}: failed of 10,000", failed, "", f"<= {self.drill.most:g}")
        if self.drill.may_fail:
            latest = max((one.latency for one in self.seen), default=0.0)
            yield Row(f"{n}: latest answer", latest, "s", "<= 10", "the request's deadline")
        new = [one for one in self.seen if one.kind == "home" and not one.fault]
        degraded = 100 * sum(one.degraded for one in new) / max(1, len(new))
        counts = "" if self.drill.may_fail else "<= 1"
        yield Row(f"{n}: degraded (a visit without new pins)", degraded, "%", counts)
        yield Row(f"{n}: answered by the primary", 100 * self.share("PRIMARY"), "%")
        yield Row(f"{n}: answered by the standby", 100 * self.share("STANDBY"), "%")
        stale = sum(one.stale for one in self.seen)
        yield Row(f"{n}: may be stale", 100 * stale / max(1, requests), "%")
        before = self.between(0.0, plan.begin)
        during = self.between(plan.begin + SETTLED, self.fault_ends)
        after = self.between(self.fault_ends + SETTLED, plan.total)
        for name, some in (("before", before), ("during", during), ("after", after)):
            for label, share in (("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)):
                yield Row(f"{n}: {label} {name}", 1000 * quantile(some, share), "ms")
        if not self.drill.may_fail:
            ratio = quantile(during, 0.99) / max(1e-9, quantile(before, 0.99))
            yield Row(f"{n}: p99 during / before", ratio, "x", "<= 2", f"after {SETTLED:g} s")
        for label, name in (("extra", "hedges"), ("warm", "warm"), ("probing", "probes")):
            share = self.counts[name] / max(1.0, self.counts["calls"])
            yield Row(f"{n}: {label} calls", 100 * share, "%")

    def faults(self) -> list[str]:
        """The kinds of failures with their numbers and, if there were failures, the races'
        counters."""
        counts = Counter(one.fault for one in self.failed)
        told = [f"{count} x {fault}" for fault, count in counts.most_common(5)]
        kept = {name: round(count) for name, count in self.counts.items() if count}
        return [*told, f"races: {kept}"] if told else []


def together(passes: Sequence[Outcome]) -> Outcome:
    """Several repetitions of a drill as one, second by second."""
    seen = sorted((one for outcome in passes for one in outcome.seen), key=lambda one: one.due)
    counts = {name: sum(outcome.counts[name] for outcome in passes) for name in passes[0].counts}
    return replace(passes[0], seen=seen, counts=counts)


def quantile(seen: Sequence[Seen], share: float) -> float:
    """A quantile of the latencies, in seconds; 0 if there are none."""
    took = sorted(one.latency for one in seen)
    return took[min(len(took) - 1, int(share * len(took)))] if took else 0.0


def plot(outcome: Outcome) -> str:
    """Latencies by second, or by a few seconds (on a logarithmic scale); below, the standby's share
    and failures."""
    plan, total = outcome.plan, max(1, math.ceil(outcome.plan.total))
    step = math.ceil(total / _POINTS)
    steps = _steps(outcome, step)
    wide = (_WIDTH - _LEFT - 20) * step / total

    def x(second: float) -> float:
        return _LEFT + wide * second / step

    def y(latency: float) -> float:
        decades = math.log10(max(1.0, min(10_000.0, 1000 * latency)))  # 1 ms to 10 s
        return _TOP + _PLOT - _PLOT * decades / 4

    title = f"Drill {outcome.drill.number}: {outcome.drill.says}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'font-family="system-ui, sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        f'<text x="12" y="22" font-size="15" font-weight="600">{escape(title)}</text>',
        f'<rect x="{x(plan.begin):.1f}" y="{_TOP}" fill="#fde68a" opacity="0.5" '
        f'width="{x(outcome.fault_ends) - x(plan.begin):.1f}" height="{_PLOT + _BARS + 20}"/>',
    ]
    for decade in range(5):
        at = y(10**decade / 1000)
        parts.append(f'<path d="M{_LEFT} {at:.1f}H{_WIDTH - 20}" stroke="#e5e7eb"/>')
        label = f"{10**decade:,} ms"
        parts.append(f'<text x="{_LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{label}</text>')
    for share, color in ((0.5, "#2563eb"), (0.99, "#dc2626")):
        line = " ".join(
            f"{x((n + 0.5) * step):.1f},{y(quantile(some, share)):.1f}"
            for n, some in enumerate(steps)
            if some
        )
        parts.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="1.5"/>')
    base = _TOP + _PLOT + 20 + _BARS
    for n, some in enumerate(steps):
        sides = [name for one in some for name in one.sides]
        standby = _BARS * sides.count("STANDBY") / max(1, len(sides))
        failed = _BARS * sum(bool(one.fault) for one in some) / max(1, len(some))
        for height, color in ((standby, "#10b981"), (failed, "#111827")):
            if height:
                parts.append(
                    f'<rect x="{x(n * step):.1f}" y="{base - height:.1f}" width="{wide:.1f}" '
                    f'height="{height:.1f}" fill="{color}"/>'
                )
    key = (("p50", "#2563eb"), ("p99", "#dc2626"), ("standby's share", "#10b981"),
           ("failed", "#111827"))  # fmt: skip
    for n, (label, color) in enumerate(key):
        parts.append(
            f'<rect x="{_LEFT + 150 * n}" y="{base + 20}" width="12" height="12" fill="{color}"/>'
        )
        parts.append(f'<text x="{_LEFT + 150 * n + 18}" y="{base + 30}">{escape(label)}</text>')
    parts.append(f'<text x="{_WIDTH - 20}" y="{base + 14}" text-anchor="end">{total} s</text>')
    return "\n".join([*parts, "</svg>", ""])


def _steps(outcome: Outcome, step: int) -> list[list[Seen]]:
    """The requests by the `step` seconds in which they were due."""
    steps: list[list[Seen]] = [[] for _ in range(math.ceil(outcome.plan.total / step))]
    for one in outcome.seen:
        steps[int(one.due / step)].append(one)
    return steps
