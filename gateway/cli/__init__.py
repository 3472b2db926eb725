"""The `pinway` command line. A command's module is imported when the command is used, so that help,
completion and mistyped commands answer at once."""

import sys
from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem

from datasources.errors import PinwayError
from gateway.execution.collector import lasting
from gateway.server.interruption import stopping


class Source(NamedTuple):
    """The place of a command, and what it does in a few words."""

    module: str
    attribute: str
    summary: str


class Loaded(MutableMapping[str, click.Command]):
    """Commands by name, each imported when it is first asked for."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._sources, self._found = dict(sources), dict[str, click.Command]()

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._found:
            module, attribute, summary = self._sources[name]
            with lasting():
                command: click.Command = getattr(import_module(module), attribute)
            command.short_help = summary
            self._found[name] = command
        return self._found[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._sources.setdefault(name, Source("", "", command.get_short_help_str()))
        self._found[name] = command

    def __delitem__(self, name: str) -> None:
        del self._sources[name]
        self._found.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._sources)

    def __len__(self) -> int:
        return len(self._sources)

    def summaries(self) -> list[tuple[str, str]]:
        """All names in order, with what each command does."""
        return sorted((name, source.summary) for name, source in self._sources.items())


COMMANDS = {
    name: Source(module, attribute, summary)
    for name, module, attribute, summary in (
        ("run", "gateway.cli.service", "run_command", "Run everything embedded, with a demo."),
        ("serve", "gateway.cli.service", "serve_command", "Answer requests on the stores set up."),
        ("worker", "gateway.cli.service", "worker_command", "Run background jobs alone."),
        ("init", "gateway.cli.service", "init_command", "Make missing databases and tables."),
        ("token", "gateway.cli.tools", "token_command", "Print a token for a user."),
        ("import", "gateway.cli.data", "import_command", "Read bookmarks or JSON Lines."),
        ("export", "gateway.cli.data", "export_command", "Write everything as JSON Lines."),
        ("dump", "gateway.cli.dump", "dump_command", "Write Parquet files for analytics."),
        ("migrate", "gateway.cli.migrate", "migrate", "Bring in an unsharded database."),
        ("schema", "gateway.cli.tools", "schema", "Print or compare the GraphQL schema."),
        ("cache", "gateway.cli.cache", "cache", "Show and change the memcached servers."),
        ("feed", "gateway.cli.feed", "feed", "Show and route reads of the feed stores."),
        ("related", "gateway.cli.related", "related", "Build and show the related pins' graph."),
        ("train", "gateway.cli.train", "train_command", "Learn the order of the home feed."),
        ("search", "gateway.cli.search", "search", "Build and show the search index."),
        ("jobs", "gateway.cli.jobs", "jobs", "List, retry and drop background jobs."),
        ("reports", "gateway.cli.reports", "reports", "Show and decide people's reports."),
        ("user", "gateway.cli.user", "user", "Find users, write out their data."),
        ("doctor", "gateway.cli.doctor", "doctor_command", "Check everything, say what to do."),
        ("config", "gateway.cli.config", "config", "Show the settings in force."),
        ("plan", "gateway.cli.plan", "plan_command", "Estimate servers for a load."),
        ("backup", "gateway.cli.backup", "backup_command", "Copy all embedded stores."),
        ("restore", "gateway.cli.backup", "restore_command", "Make embedded stores of a backup."),
        ("shards", "gateway.cli.shards", "shards", "Look after the shards' servers."),
        ("stack", "deploy.stack.cli", "stack", "Start and stop real servers on this host."),
        (
            "completion",
            "gateway.cli.completion",
            "completion_command",
            "Print a shell's completions.",
        ),
    )
}


class Commands(click.Group):
    """A group whose commands' own errors are one line on standard error, and exit status 1. Ctrl-C
    and SIGTERM are one line too, and exit status 130 or 143."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._loaded = Loaded(COMMANDS)
        self.commands = self._loaded

    def invoke(self, context: click.Context) -> Any:
        try:
            with stopping():
                return super().invoke(context)
        except PinwayError as error:
            click.echo(f"pinway: {error}", err=True)
            sys.exit(1)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(self._loaded.summaries())

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        names = [
            CompletionItem(name, help=summary)
            for name, summary in self._loaded.summaries()
            if name.startswith(incomplete)
        ]
        return names + click.Command.shell_complete(self, ctx, incomplete)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="pinway")
def main() -> None:
    """Pinway: a GraphQL gateway over sharded objects, cached mappings and raced feeds.

    Exit status: 0 done; 1 an error, with one line; 2 a wrong command line; 3 faults were found
    (`doctor`, `dump`, `migrate back`, `migrate verify`, `related status`, `schema check`,
    `search status`, `shards check`, `shards verify`, `stack status`), or nothing better (`train`);
    130 interrupted by Ctrl-C, and 143 by SIGTERM. A server (`run`, `serve`, `worker`,
    `shards watch`) that Ctrl-C or SIGTERM stops ends with 0.
    """
