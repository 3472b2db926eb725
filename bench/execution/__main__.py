"""`python -m bench.execution [--quick] [--python PYTHON] [--page]`: every measure of the executor,
compared with peers. Prints a table at the end, and writes bench/results/execution.json."""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from bench.execution import environment, measures, new_visits, page
from bench.execution.contenders import (
    BULK,
    CACHED,
    FIXED_TIME,
    FLOOR,
    MERCURIUS_JIT,
    PLAIN,
    REAL_OURS,
    REAL_STOCK,
    STOCK,
    feed_contenders,
    uvicorn,
)
from bench.execution.measures import FULL, QUICK, Rate, say
from bench.execution.onservers import on_servers
from bench.execution.requests import feed_pages
from bench.execution.servers import BenchError
from bench.execution.tail import Tail, Tails, tails
from bench.machine import machine
from bench.rows import Row, replace, table

SATURATION = 0.7
TAIL = 6.0  # the goal of p99 / p50


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.execution", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="about two minutes, rougher figures")
    parser.add_argument("--python", help="the Python of all Python contenders; default: this one")
    parser.add_argument("--page", action="store_true", help="write the figures to bench/README.md")
    parser.add_argument("--real", action="store_true", help="the real path alone, written nowhere")
    parser.add_argument(
        "--servers", action="store_true", help="real servers alone, into the kept results"
    )
    parser.add_argument(
        "--visits", action="store_true", help="new visits alone, embedded, into the kept results"
    )
    chosen = parser.parse_args()
    try:
        if chosen.visits:
            run_new_visits(python=chosen.python)
            return
        if chosen.servers:
            run_on_servers(quick=chosen.quick, python=chosen.python)
            return
        if chosen.real:
            run_real(quick=chosen.quick, python=chosen.python)
        else:
            run(quick=chosen.quick, python=chosen.python, to_page=chosen.page)
    except BenchError as error:
        sys.exit(f"bench.execution: {error}")


def run(*, quick: bool, python: str | None, to_page: bool) -> None:
    load = os.getloadavg()[0]
    environment.wrk()
    node, interpreter = environment.node(), environment.python(python)
    os.chdir(environment.ROOT)
    effort = QUICK if quick else FULL
    with tempfile.TemporaryDirectory(prefix="pinway-bench-") as directory:
        folder = Path(directory)
        data = folder / "data.json"
        measures.write_data(data)
        say("in process")
        inside = measures.in_process(interpreter, quick)
        contenders = feed_contenders(interpreter, node, data)
        say("pages of 50 pins over HTTP")
        fifty = measures.rates(list(contenders.values()), feed_pages(50), effort, folder)
        say("pages of one pin over HTTP")
        some = [contenders[name] for name in (STOCK, CACHED, MERCURIUS_JIT, PLAIN, BULK)]
        one = measures.rates(some, feed_pages(1), effort, folder)
        say("the real path")
        real = measures.real_rates(interpreter, effort, folder)
        say("Poisson arrivals")
        judged = [
            uvicorn(interpreter, FIXED_TIME, "spin"),
            contenders[FLOOR],
            contenders[BULK],
        ]
        late = tails(judged, feed_pages(50), SATURATION, effort, folder)
    rows = [
        *_page_rows(fifty, one),
        *_real_rows(real),
        *_tail_rows(late),
        *_inside_rows(inside),
    ]
    rows = replace("execution", tuple(row.measure for row in rows), rows)
    if to_page:
        command = "python -m bench.execution" + (" --quick" if quick else "")
        command += f" --python {python}" if python else ""
        busy = f"load average {load:.1f} before the run" + (", a crowded machine" * (load > 0.5))
        lines = [
            f"`{command}`",
            f"{machine()}; {busy}",
            *environment.versions(interpreter),
        ]
        page.write(rows, fifty, one, lines)
    print("\n".join(environment.versions(interpreter)), end="\n\n")
    print(table(rows))


def run_real(*, quick: bool, python: str | None) -> None:
    environment.wrk()
    interpreter = environment.python(python)
    os.chdir(environment.ROOT)
    with tempfile.TemporaryDirectory(prefix="pinway-bench-") as directory:
        real = measures.real_rates(interpreter, QUICK if quick else FULL, Path(directory))
    print(table(_real_rows(real)))


def run_new_visits(*, python: str | None) -> None:
    interpreter = environment.python(python)
    os.chdir(environment.ROOT)
    with tempfile.TemporaryDirectory(prefix="pinway-bench-") as directory:
        found = new_visits.embedded(interpreter, Path(directory))
    replace("execution", tuple(row.measure for row in found), found)
    print(table(found))


def run_on_servers(*, quick: bool, python: str | None) -> None:
    environment.wrk()
    node, interpreter = environment.node(), environment.python(python)
    os.chdir(environment.ROOT)
    with tempfile.TemporaryDirectory(prefix="pinway-bench-") as directory:
        found = on_servers(interpreter, node, QUICK if quick else FULL, Path(directory))
    replace("execution", tuple(row.measure for row in found), found)
    print(table(found))


def _page_rows(fifty: dict[str, Rate], one: dict[str, Rate]) -> list[Row]:
    def over(rates: dict[str, Rate], name: str, peer: str) -> float:
        return rates[name].over(rates[peer])

    rows = [
        Row(f"home feed, 50 pins: {name}", rate.per_cpu, "requests/s", versus=_spread(rate))
        for name, rate in fifty.items()
    ]
    return [
        *rows,
        Row("home feed, bulk", over(fifty, BULK, MERCURIUS_JIT), "x", ">= 1.2", MERCURIUS_JIT),
        Row("home feed, bulk", over(fifty, BULK, STOCK), "x", ">= 50", STOCK),
        Row("home feed, plain", over(fifty, PLAIN, STOCK), "x", ">= 20", STOCK),
        Row("home feed, bulk", over(fifty, BULK, FLOOR), "x", versus="the floor, by hand"),
        Row("page of one pin, bulk", over(one, BULK, CACHED), "x", ">= 8", CACHED),
        Row("page of one pin, plain", over(one, PLAIN, CACHED), "x", versus=CACHED),
        Row("page of one pin, bulk", over(one, BULK, MERCURIUS_JIT), "x", versus=MERCURIUS_JIT),
        Row("page of 50 pins, bulk", over(fifty, BULK, CACHED), "x", ">= 40", CACHED),
    ]


def _spread(rate: Rate) -> str:
    least, most = min(rate.rounds), max(rate.rounds)
    return f"{least:,.0f} to {most:,.0f}; {rate.wall:,.0f} of wall time"


def _real_rows(real: dict[str, dict[str, Rate]]) -> list[Row]:
    return [
        Row(
            f"{page} on the real path",
            rates[REAL_OURS].over(rates[REAL_STOCK]),
            "x",
            ">= 15",
            f"strawberry on the same stores; {rates[REAL_OURS].per_cpu:,.0f} requests/s against "
            f"{rates[REAL_STOCK].per_cpu:,.0f}",
        )
        for page, rates in real.items()
    ]


def _tail_rows(found: dict[str, Tails]) -> list[Row]:
    """If the hand-written page misses the goal, too, a miss says nothing about the gateway."""
    of_time = {name: each.of_time for name, each in found.items()}
    of_requests = {name: each.of_requests for name, each in found.items()}
    steady = min(of_time[FLOOR].ratio, of_time[BULK].ratio) <= TAIL
    return [
        Row(
            "p99 / p50, Poisson arrivals, busy 70% of the time",
            of_time[BULK].ratio,
            "",
            f"<= {TAIL:.0f}" if steady else "",
            ("" if steady else "the machine's speed varied too much; ") + _tail(of_time),
        ),
        Row(
            "p99 / p50, Poisson arrivals, 70% of the requests",
            of_requests[BULK].ratio,
            "",
            versus=_tail(of_requests),
        ),
    ]


def _tail(found: dict[str, Tail]) -> str:
    controls = "; ".join(f"{name}: {found[name].ratio:.2f}" for name in (FIXED_TIME, FLOOR))
    middle = found[BULK].middle
    return (
        f"{controls}; p50 {middle.p50 * 1e3:.2f} ms, p99 {middle.p99 * 1e3:.2f} ms at "
        f"{middle.rate:,.0f} requests/s, busy {middle.busy:.0%} of the time"
    )


def _inside_rows(inside: measures.Inside) -> list[Row]:
    rows = []
    for shape, took in inside["shapes"].items():
        versus = f"stock in process; {took['cached'] / took['ours']:.1f} x stock with caches"
        rows.append(Row(shape, took["stock"] / took["ours"], "x", ">= 10", versus))
    sight, memory, block = inside["first sight"], inside["memory"], inside["block"]
    return [
        *rows,
        Row(
            "first sight of an operation",
            sight["ours"] / sight["core"],
            "x",
            "<= 3",
            f"graphql-core's parse and validate, {sight['core'] * 1e3:.2f} ms",
        ),
        Row(
            f"memory of {memory['plans']:,} cached plans",
            memory["bytes"] / 2**20,
            "MiB",
            versus=f"{memory['bytes'] / memory['plans'] / 1024:.1f} KiB each; the cache counts"
            f" {memory['counted'] / memory['plans'] / 1024:.1f} KiB",
        ),
        Row(
            f"longest block of the loop, {block['objects']:,} objects answered",
            block["longest"] * 1e3,
            "ms",
            "<= 10",
            f"in {block['took']:.2f} s",
        ),
    ]


if __name__ == "__main__":
    main()
