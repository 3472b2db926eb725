"""Writes the book's generated pages in each build: schema, commands, metrics and figures.

MkDocs calls `on_files` (see `hooks` in mkdocs.yml). Generated pages are never out of date, because
they are not committed.
"""

import json
import runpy
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click
from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    get_named_type,
)
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from prometheus_client.parser import text_string_to_metric_families

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from gateway.cli import main  # noqa: E402
from schema import schema  # noqa: E402

RESULTS = ROOT / "bench" / "results"
plots = runpy.run_path(str(ROOT / "docs/plots.py"))["plots"]
PLOTS = [
    *sorted(RESULTS.glob("*.svg")),
    ROOT / "bench/order/growth.svg",
    *sorted((ROOT / "bench/drills/plots").glob("*.svg")),
]
START_SECONDS = 60.0
BENCHMARKS = {
    "web": "The web client in a browser: `make bench NAME=web`",
    "execution": "The executor and the HTTP path: `make bench NAME=execution`",
    "order": "Reorders: `make bench NAME=order`",
    "speculation": "The race of primary and standby: `make bench NAME=speculation`",
    "abuse": "Attacks by a stranger: `make bench NAME=abuse`",
    "data": "Shards on real servers: `make bench NAME=data`",
    "following": "The following feed: `make bench NAME=following`",
    "visits": "New visits of the home feed: `make bench NAME=visits`",
    "search": "Search: `python -m bench.search`",
    "related": "Related pins: `python -m bench.related --data FOLDER`",
    "plan": "Constants of `pinway plan`: `make bench NAME=plan`",
    "telemetry": "Logs and traces: `make bench NAME=telemetry`",
    "drills": "Drills: `make drill`",
    "drills_hour": "Drills: an hour of load",
    "drills_overload": "Drills: under overload",
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages and the plots to the book."""
    pages = {
        "reference/schema.md": schema_page(),
        "reference/commands.md": commands_page(),
        "reference/metrics.md": metrics_page(metrics_text()),
        "measured.md": measured_page(),
    }
    for uri, text in pages.items():
        files.append(File.generated(config, uri, content=text))
    for plot in PLOTS:
        files.append(File.generated(config, f"plots/{plot.name}", abs_src_path=str(plot)))
    for name, svg in plots().items():
        files.append(File.generated(config, f"plots/{name}.svg", content=svg))
    return files


def cell(text: str | None) -> str:
    """Text for a cell of a table."""
    return (text or "").replace("|", "\\|").replace("\n", " ")


# ------------------------------------------------------------------------------------------ schema


def schema_page() -> str:
    """Every type of the schema with its fields, the query and the mutation first."""
    types = [t for name, t in schema._schema.type_map.items() if not name.startswith("__")]
    first = ("Query", "Mutation")
    types.sort(key=lambda t: (first.index(t.name) if t.name in first else len(first), t.name))
    described = [t for t in types if isinstance(t, _WITH_FIELDS | GraphQLEnumType)]
    lines = [
        "# Schema\n\nGenerated from the schema. `pinway schema` prints it as GraphQL's schema "
        "language. An object's description says what can be read at once after a write.\n"
    ]
    for type_ in described:
        lines += [f"## {type_.name}\n", f"{type_.description or ''}\n", *_members(type_), ""]
    return "\n".join(lines)


_WITH_FIELDS = GraphQLObjectType | GraphQLInterfaceType | GraphQLInputObjectType


def _members(type_: GraphQLNamedType) -> Iterator[str]:
    if isinstance(type_, GraphQLEnumType):
        yield "| value | meaning |\n| --- | --- |"
        for name, value in type_.values.items():
            yield f"| `{name}` | {cell(value.description)} |"
    elif isinstance(type_, _WITH_FIELDS):
        yield "| field | type | meaning |\n| --- | --- | --- |"
        for name, field in type_.fields.items():
            yield f"| `{name}{_arguments(field)}` | {_link(field)} | {cell(field.description)} |"


def _arguments(field: GraphQLField | GraphQLInputField) -> str:
    given: dict[str, GraphQLArgument] = getattr(field, "args", {})
    told = ", ".join(f"{name}: {argument.type}" for name, argument in given.items())
    return f"({told})" if told else ""


def _link(field: GraphQLField | GraphQLInputField) -> str:
    named = get_named_type(field.type)
    linked = isinstance(named, _WITH_FIELDS | GraphQLEnumType)
    return f"[`{field.type}`](#{named.name.lower()})" if linked else f"`{field.type}`"


# ---------------------------------------------------------------------------------------- commands


def commands_page() -> str:
    """Every command of `pinway` with its help."""
    told = ["# Commands\n\nGenerated from `pinway --help` and the help of each command.\n"]
    for path, command in _commands(main, "pinway"):
        context = click.Context(command, info_name=path, terminal_width=90, max_content_width=90)
        told.append(f"## {path}\n\n```text\n{command.get_help(context)}\n```\n")
    return "\n".join(told)


def _commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        for name, below in sorted(command.commands.items()):
            yield from _commands(below, f"{path} {name}")


# ----------------------------------------------------------------------------------------- metrics


def metrics_page(text: str) -> str:
    """Every metric that a running gateway exposes."""
    lines = [
        "# Metrics\n\nGenerated from `/metrics` of a running gateway, in Prometheus' format.\n",
        "| metric | type | meaning |\n| --- | --- | --- |",
    ]
    for family in text_string_to_metric_families(text):
        lines.append(f"| `{family.name}` | {family.type} | {cell(family.documentation)} |")
    return "\n".join(lines) + "\n"


@cache
def metrics_text() -> str:
    """The metrics of an embedded gateway that runs only for this."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        gateway = [sys.executable, "-m", "gateway"]
        subprocess.run([*gateway, "init", "--data-dir", folder], cwd=ROOT, check=True)
        serve = [*gateway, "serve", "--data-dir", folder, "--port", str(port)]
        process = subprocess.Popen(serve, cwd=ROOT)
        try:
            return _read(process, f"http://127.0.0.1:{port}/metrics")
        finally:
            process.terminate()
            process.wait()


def _read(process: "subprocess.Popen[bytes]", url: str) -> str:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5) as response:
                return str(response.read().decode())
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.05)  # nothing tells when a process begins to listen


# ---------------------------------------------------------------------------------------- measured


def measured_page() -> str:
    """The kept results of all benchmarks, and their plots."""
    told = [
        "# Measured\n\nGenerated from `bench/results`. Each benchmark writes its rows there; "
        "`bench/README.md` says how they are measured and what the figures depend on. A goal is a "
        "ratio against a peer in the same run.\n"
    ]
    results = {path.stem: path for path in sorted(RESULTS.glob("*.json"))}
    for name in sorted(results, key=lambda name: (name not in BENCHMARKS, name)):
        rows = json.loads(results[name].read_text())
        title = BENCHMARKS.get(name, f"`make bench NAME={name}`")
        told += [f"## {title}\n", *(_plots(name)), _table(rows), ""]
    return "\n".join(told)


def _plots(name: str) -> Iterator[str]:
    for drawn in plots():
        if drawn.rpartition("-")[0] == name:
            yield f"![{drawn}](plots/{drawn}.svg)\n"
    for plot in PLOTS:
        folder = {"plots": "drills", "order": "order"}.get(plot.parent.name, plot.stem)
        if folder == name:
            yield f"![{plot.stem}](plots/{plot.name})\n"


def _table(rows: list[dict[str, Any]]) -> str:
    lines = ["| measure | value | goal | holds | against |", "| --- | ---: | --- | --- | --- |"]
    for row in rows:
        holds = {True: "yes", False: "**no**", None: ""}[row["holds"]]
        value = f"{row['value']:,.10g} {row['unit']}".strip()
        cells = [cell(row["measure"]), value, row["goal"], holds, cell(row["versus"])]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
