"""MariaDB: pairs of a master and its slave, replicating by global transaction id."""

import os
import pwd
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from datasources.replication.server_row import EVENT, EXISTS, FIRST_ROW, READ, SCHEMA, opens
from deploy.commands import run
from deploy.stack import install
from deploy.stack.errors import StackError
from deploy.stack.files import write_if_changed
from deploy.stack.mariadb_texts import ACCOUNTS, CONFIG, OPERATOR
from deploy.stack.ports import HOST
from deploy.stack.secrets import Secrets
from deploy.stack.service import NotReady, Service

USER = "pinway"
OPERATOR_USER = "pinway_operator"
REPLICA = "replica"
_CLIENT_TIMEOUT = 5.0


class Master(NamedTuple):
    """The epoch and the server id of a pair's master, and whether its writes wait for a slave."""

    epoch: int
    id: int
    waits: bool


class MariaDB(Service):
    """One server of a pair. The same accounts are created on both servers. `first`: the pair's
    first master.

    `pair` makes the two servers known to each other.
    """

    def __init__(
        self,
        name: str,
        root: Path,
        ports: Mapping[str, int],
        secrets: Secrets,
        *,
        server_id: int,
        domain: int,
        first: bool,
    ) -> None:
        super().__init__(name, root, ports)
        self._first = first
        self.server_id = server_id
        self.domain = domain
        self.data = self.dir / "data"
        self._secrets = secrets
        self._peer: MariaDB = self

    def pair(self, other: "MariaDB") -> None:
        self._peer, other._peer = other, self

    def command(self) -> list[str]:
        command = [install.tool("mariadbd"), f"--defaults-file={self.dir / 'my.cnf'}"]
        # The data belongs to the user who runs this. MariaDB requires an option if that is root.
        return [*command, "--user=root"] if os.geteuid() == 0 else command

    def config(self) -> dict[Path, str]:
        text = CONFIG.format(
            data=self.data,
            dir=self.dir,
            # Relative to the data: the path of a Unix socket may not exceed 107 bytes.
            socket="mariadb.sock",
            port=self.port,
            host=HOST,
            server_id=self.server_id,
            domain=self.domain,
            buffer_pool="128M",
        )
        return {Path("my.cnf"): text}

    def prepare(self) -> None:
        scratch_tables = self.dir / "tmp"
        scratch_tables.mkdir(exist_ok=True)
        if self.data.exists():
            return
        scratch = self.dir / "data.new"
        shutil.rmtree(scratch, ignore_errors=True)
        accounts = self.dir / "accounts.sql"
        text = ACCOUNTS.format(
            user=USER,
            host=HOST,
            password=self._secrets.mysql_password,
            replica=REPLICA,
            replica_password=self._secrets.replica_password,
        )
        write_if_changed(accounts, text, secret=True)
        owner = pwd.getpwuid(os.geteuid()).pw_name
        made = run(
            [
                install.tool("mariadb-install-db"),
                "--no-defaults",
                f"--datadir={scratch}",
                # This option is for the server only. With --user, the script itself would change
                # owners of files, even outside our directory, and would fail for paths with spaces.
                f"--loose-user={owner}",
                "--auth-root-authentication-method=socket",
                f"--auth-root-socket-user={owner}",
                "--skip-name-resolve",
                "--skip-test-db",
                f"--extra-file={accounts}",
                "--innodb-log-file-size=64M",
            ],
            env={**self.environment(), "TMPDIR": str(scratch_tables)},
        )
        accounts.unlink()
        # The following lines are general advice, which would hide the cause.
        self.log.write_text(made.stdout.partition("\nThe problem could be")[0])
        if made.returncode != 0:
            raise self._failure("could not make its data directory")
        scratch.rename(self.data)

    def query(self, sql: str, *, vertical: bool = False, timeout: float = _CLIENT_TIMEOUT) -> str:
        """The server's answer to `sql`, as root over its Unix socket.

        Rows are lines of tab-separated values or, if `vertical`, a "name: value" line for each
        column. Raises NotReady with the server's message when it can't be asked.
        """
        command = [
            install.tool("mariadb"),
            "--no-defaults",
            "--batch",
            "--skip-column-names",
            "--connect-timeout=3",
            f"--user={pwd.getpwuid(os.geteuid()).pw_name}",
            "--socket=mariadb.sock",
        ]
        if vertical:
            command += ["--vertical", "--column-names"]
        try:
            asked = subprocess.run(
                command,
                cwd=self.data,
                input=sql,
                capture_output=True,
                text=True,
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise NotReady("no answer") from None
        if asked.returncode != 0:
            raise NotReady(asked.stderr.strip())
        return asked.stdout

    def settle(self) -> None:
        """Decide with the other server of the pair which of them is the master, and take this
        server's role."""
        self._check_identity()
        self.query(
            OPERATOR.format(
                user=USER,
                operator=OPERATOR_USER,
                host=HOST,
                operator_password=self._secrets.mysql_operator_password,
            )
        )
        if self._owner() == self.server_id:
            self._become_master()
        elif self._is_deposed():
            return
        elif self._replication().get("Master_Port") != str(self._peer.port):
            self._peer.probe()
            self._follow()
        elif self._stopped():
            self._peer.probe()
            self.query("START SLAVE")
        self.probe()

    def probe(self) -> str:
        """Check that the server does what its role requires: it takes writes, or replicates."""
        self._check_identity()
        if not self._is_read_only():
            return "master"
        if self._is_deposed():
            raise NotReady(f"was deposed: `pinway shards attach {topology_name(self.name)}`")
        status = self._replication()
        running = status.get("Slave_IO_Running"), status.get("Slave_SQL_Running")
        if running != ("Yes", "Yes"):
            error = status.get("Last_IO_Error") or status.get("Last_SQL_Error") or "not replicating"
            raise NotReady(error)
        return f"replicates {self._peer.name}, {status['Seconds_Behind_Master']} s behind"

    def row(self) -> "Master | None":
        """The pair's master as this server knows it; None before the pair has begun."""
        if self.query(EXISTS).strip() == "0":
            return None
        found = self.query(READ).split()
        return Master(int(found[0]), int(found[1]), found[2] != "0") if found else None

    def _owner(self) -> int:
        """The server id of the pair's master: the server with the highest epoch. Raises NotReady if
        the other server can't be asked, because it may know a later master."""
        own = self.row()
        if own is not None and own.id == self.server_id and not own.waits:
            return self.server_id  # no slave could have been promoted
        try:
            rows = [row for row in (own, self._peer.row()) if row is not None]
        except (NotReady, OSError) as problem:
            raise NotReady(
                f"waits for {self._peer.name}, which may have become the master ({problem})"
            ) from problem
        if rows:
            return max(rows).id
        return self.server_id if self._first else self._peer.server_id

    def _become_master(self) -> None:
        if self._replication().get("Slave_IO_Running", "No") != "No":
            raise NotReady("is to be master, and replicates: `pinway shards promote` goes on")
        if self._is_read_only():
            row = self.row()
            if row is None:
                self.query(f"{SCHEMA}{FIRST_ROW};\nDELIMITER //\n{EVENT}//\n")
            self.query(";\n".join(opens(waits=row is None or row.waits)))

    def _is_deposed(self) -> bool:
        """Whether this is a former master, which may have writes that no slave has."""
        own = self.row()
        return own is not None and own.id == self.server_id

    def _check_identity(self) -> None:
        found = self.query("SELECT @@server_id").strip()
        if found != str(self.server_id):
            raise NotReady(f"answers as server {found}, expected {self.server_id}")

    def _is_read_only(self) -> bool:
        return self.query("SELECT @@read_only").strip() == "1"

    def _stopped(self) -> bool:
        status = self._replication()
        return "No" in (status.get("Slave_IO_Running"), status.get("Slave_SQL_Running"))

    def _follow(self) -> None:
        """Begin to replicate, or continue with a master that has moved to another port."""
        self.query(
            f"""
            STOP SLAVE;
            CHANGE MASTER TO MASTER_HOST='{HOST}', MASTER_PORT={self._peer.port},
              MASTER_USER='{REPLICA}', MASTER_PASSWORD='{self._secrets.replica_password}',
              MASTER_CONNECT_RETRY=1, MASTER_USE_GTID=slave_pos;
            START SLAVE;
            """
        )

    def _replication(self) -> dict[str, str]:
        lines = self.query("SHOW SLAVE STATUS", vertical=True).splitlines()
        pairs = (line.strip().partition(": ") for line in lines if ":" in line)
        return {name.rstrip(":"): value for name, _, value in pairs}


def topology_name(service: str) -> str:
    """The name by which the topology knows a server: mysql001a is MySQL001A."""
    if not service.startswith("mysql"):
        raise StackError(f"{service!r} is not a MariaDB server.")
    return "MySQL" + service.removeprefix("mysql").upper()
