"""The gateway under attack: `pinway run` with fresh demo content, on a core of its own."""

from __future__ import annotations

import http.client
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bench.execution.servers import BenchError, Contender, Server, ahead_of_others, running
from bench.processes import processor_seconds, resident
from gateway.http.auth import Tokens

ROOT = Path(__file__).parents[2]
SECRET = "a secret of the benchmark alone, of many characters"
VIEWERS = 250
SECRET_PINS = 1_000
START_SECONDS = 180.0


@dataclass
class Facts:
    """The facts that clients and attackers know about a site. `viewers` are the honest viewers:
    each with a token, a board, and that board's pins."""

    port: int
    viewers: list[dict[str, Any]] = field(default_factory=list)
    users: list[str] = field(default_factory=list)
    boards: list[str] = field(default_factory=list)
    pins: list[str] = field(default_factory=list)
    stranger: str = ""
    """The attacker's token."""
    secret_board: str = ""
    """A secret board with many pins, which does not belong to the attacker."""
    own_boards: list[str] = field(default_factory=list)
    own_pins: list[str] = field(default_factory=list)
    """The attacker's boards, and the pins of the first board."""
    feed_token: str = ""
    """A token of a write of the attacker that appears in feeds."""
    cursor: str = ""
    """The attacker's cursor on the secret board, from before the board became secret."""

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)))

    @staticmethod
    def read(path: Path) -> Facts:
        return Facts(**json.loads(path.read_text()))


@dataclass
class Site:
    """A server, the facts about it, and the data with which it was started."""

    server: Server
    facts: Facts

    @property
    def memory(self) -> int:
        """Bytes of memory that the server process uses."""
        return resident(self.server.process.pid)

    @property
    def processor_time(self) -> float:
        """Seconds of processor time that the server process has used."""
        return processor_seconds(self.server.process.pid)


class Client:
    """Sends operations to a gateway on 127.0.0.1, in the name of a user."""

    def __init__(self, port: int, token: str = "") -> None:
        self._port, self._token = port, token

    def ask(self, query: str, **variables: Any) -> dict[str, Any]:
        """The data of the answer. Raises BenchError if there are errors."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        headers = {"content-type": "application/json"}
        if self._token:
            headers["authorization"] = f"Bearer {self._token}"
        try:
            body = json.dumps({"query": query, "variables": variables})
            connection.request("POST", "/graphql", body, headers)
            answer = json.loads(connection.getresponse().read())
        finally:
            connection.close()
        if "errors" in answer:
            raise BenchError(f"{query[:80]}: {answer['errors'][0]['message']}")
        return dict(answer["data"])


def prepare(folder: Path) -> Path:
    """A data directory with the demo content, an attacker and a large secret board, to be copied
    for each site."""
    data = folder / "prepared"
    with _served(data, folder) as server:
        facts = Facts(server.port)
        _look_around(facts)
        _hide_pins(facts)
        facts.write(data / "facts.json")
    return data


@contextmanager
def site(prepared: Path, folder: Path, before: Sequence[str] = ()) -> Iterator[Site]:
    """A new site on a copy of the prepared data. `before` is put in front of its command."""
    data = folder / "site"
    shutil.rmtree(data, ignore_errors=True)
    shutil.copytree(prepared, data)
    with _served(data, folder, before) as server:
        facts = Facts.read(data / "facts.json")
        facts.port = server.port
        yield Site(server, facts)
    shutil.rmtree(data, ignore_errors=True)


@contextmanager
def _served(data: Path, folder: Path, before: Sequence[str] = ()) -> Iterator[Server]:
    command = [sys.executable, "-m", "gateway", "run", "--data-dir", str(data), "--port", "{port}"]
    contender = Contender("pinway run", command, {"PINWAY_AUTH__SECRET": SECRET})
    log = folder / "site.log"
    with running(contender, log, before) as server:
        deadline = time.monotonic() + START_SECONDS
        while True:  # it listens before it answers
            with suppress(OSError, BenchError, ValueError):
                Client(server.port).ask("{ __typename }")
                break
            if time.monotonic() > deadline:
                raise BenchError(f"pinway run did not start:\n{log.read_text()[-1500:]}")
            time.sleep(0.05)
        yield server


def _look_around(facts: Facts) -> None:
    client, tokens = Client(facts.port), Tokens(SECRET, 48)
    found = client.ask(
        "{ pins(first: 100) { edges { node { id } } } "
        "boards(first: 100) { edges { node { id } } } }"
    )
    facts.pins = [edge["node"]["id"] for edge in found["pins"]["edges"]]
    facts.boards = [edge["node"]["id"] for edge in found["boards"]["edges"]]
    for user in _users(client):
        facts.users.append(user["id"])
        for board in (edge["node"] for edge in user["boards"]["edges"]):
            pins = [edge["node"]["id"] for edge in board["pins"]["edges"]]
            if len(pins) >= 3 and len(facts.viewers) < VIEWERS:
                token = tokens.issue(int(user["id"]))
                facts.viewers.append(
                    {"id": user["id"], "token": token, "board": board["id"], "pins": pins}
                )
                break


def _users(client: Client) -> Iterator[dict[str, Any]]:
    """The users, with some boards of each and some pins of each board."""
    after = ""
    while True:
        page = client.ask(
            "query($after: String) { users(first: 50, after: $after) { pageInfo { hasNextPage "
            "endCursor } edges { node { id boards(first: 3) { edges { node { id "
            "pins(first: 5) { edges { node { id } } } } } } } } } }",
            after=after or None,
        )["users"]
        yield from (edge["node"] for edge in page["edges"])
        if not page["pageInfo"]["hasNextPage"]:
            return
        after = page["pageInfo"]["endCursor"]


def _hide_pins(facts: Facts) -> None:
    """Create a board with very many pins, give the attacker a cursor of it, and make it secret."""
    signed = Client(facts.port).ask(
        'mutation { a: signUp(input: {username: "hider"}) { token } }',
    )
    owner = Client(facts.port, signed["a"]["token"])
    signed = Client(facts.port).ask(
        'mutation { a: signUp(input: {username: "stranger"}) { token } }',
    )
    facts.stranger = signed["a"]["token"]
    made = owner.ask('mutation { createBoard(input: {name: "hidden"}) { board { id } } }')
    facts.secret_board = board = made["createBoard"]["board"]["id"]
    for _ in range(SECRET_PINS // 25):
        fields = " ".join(
            f'p{n}: createPin(input: {{boardId: "{board}", title: "p"}}) {{ pin {{ id }} }}'
            for n in range(25)
        )
        owner.ask(f"mutation {{ {fields} }}")
    stranger = Client(facts.port, facts.stranger)
    page = stranger.ask("{ pins(first: 1) { edges { cursor } } }")
    facts.cursor = page["pins"]["edges"][0]["cursor"]
    for name in ("one", "other"):
        made = stranger.ask(
            f'mutation {{ createBoard(input: {{name: "{name}"}}) {{ board {{ id }} }} }}'
        )
        facts.own_boards.append(made["createBoard"]["board"]["id"])
    fields = " ".join(
        f'p{n}: createPin(input: {{boardId: "{board}", title: "p"}}) {{ pin {{ id }} }}'
        for n, board in enumerate(facts.own_boards[:1] * 25)
    )
    own = stranger.ask(f"mutation {{ {fields} }}")
    facts.own_pins = [made["pin"]["id"] for made in own.values()]
    followed = stranger.ask(
        f'mutation {{ followUser(input: {{userId: "{facts.users[0]}"}}) {{ feedToken }} }}'
    )
    facts.feed_token = followed["followUser"]["feedToken"]
    owner.ask(
        f'mutation {{ updateBoard(input: {{boardId: "{board}", secret: true}}) {{ board '
        "{ secret } } }"
    )


def spawn(
    module: str,
    *arguments: str,
    core: str,
    nice: int = 0,
    environment: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """A process of this benchmark, whose output can be read. `nice`: its priority over other
    processes, if that is allowed."""
    before = ["nice", "-n", str(nice)] if ahead_of_others() else []
    command = ["taskset", "-c", core, sys.executable, "-m", module, *arguments]
    return subprocess.Popen(before + command, cwd=ROOT, stdout=subprocess.PIPE, env=environment)
