"""MariaDB: a master and its slave, replicating by global transaction id."""

import os
import pwd
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from deploy.stack import install
from deploy.stack.errors import StackError
from deploy.stack.files import write_if_changed
from deploy.stack.ports import HOST
from deploy.stack.secrets import Secrets
from deploy.stack.service import NotReady, Service

USER = "pinway"
_REPLICA = "replica"
_CLIENT_TIMEOUT = 5.0

_CONFIG = """\
[mariadbd]
datadir = {data}
# Its own: at its start a server deletes the temporary tables of all who share the directory.
tmpdir = {dir}/tmp
socket = {socket}
pid-file = {dir}/mariadbd.pid
port = {port}
bind-address = {host}
skip-name-resolve

server-id = {server_id}
# One domain a pair: a slave that is promoted goes on where its master left off.
gtid-domain-id = {domain}
gtid-strict-mode = 1
log-bin = binlog
log-slave-updates = 1
binlog-format = ROW
binlog-expire-logs-seconds = 172800
max-binlog-size = 128M
relay-log = relay
relay-log-recovery = 1
# A master that hangs is noticed, one that comes back is found, within seconds.
slave-net-timeout = 10
read-only = {read_only}

character-set-server = utf8mb4
max-connections = 500
table-open-cache = 4000
innodb-buffer-pool-size = {buffer_pool}
innodb-log-file-size = 64M
# What was acknowledged outlives a crash of the machine. On a slave, too: one whose tables fall
# behind its own binlog would apply the difference again, and strict mode would stop it for good.
innodb-flush-log-at-trx-commit = 1
sync-binlog = 1
"""

_ACCOUNTS = """\
FLUSH PRIVILEGES;
CREATE USER '{user}'@'{host}' IDENTIFIED BY '{password}';
GRANT ALL PRIVILEGES ON `db%`.* TO '{user}'@'{host}';
GRANT ALL PRIVILEGES ON `mod%`.* TO '{user}'@'{host}';
GRANT REPLICA MONITOR ON *.* TO '{user}'@'{host}';
CREATE USER '{replica}'@'{host}' IDENTIFIED BY '{replica_password}';
GRANT REPLICATION SLAVE ON *.* TO '{replica}'@'{host}';
"""


class MariaDBMaster(Service):
    """A server that takes writes; the same accounts are made on master and slave."""

    read_only = False

    def __init__(
        self,
        name: str,
        root: Path,
        ports: Mapping[str, int],
        secrets: Secrets,
        *,
        server_id: int,
        domain: int,
    ) -> None:
        super().__init__(name, root, ports)
        self.server_id = server_id
        self.domain = domain
        self.data = self.dir / "data"
        self._secrets = secrets

    def command(self) -> list[str]:
        command = [install.tool("mariadbd"), f"--defaults-file={self.dir / 'my.cnf'}"]
        # The data belongs to the user who runs this; MariaDB wants to be told so if that is root.
        return [*command, "--user=root"] if os.geteuid() == 0 else command

    def config(self) -> dict[Path, str]:
        text = _CONFIG.format(
            data=self.data,
            dir=self.dir,
            # Relative to the data: the path of a Unix socket may not exceed 107 bytes.
            socket="mariadb.sock",
            port=self.port,
            host=HOST,
            server_id=self.server_id,
            domain=self.domain,
            read_only=int(self.read_only),
            buffer_pool="64M" if self.read_only else "128M",
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
        text = _ACCOUNTS.format(
            user=USER,
            host=HOST,
            password=self._secrets.mysql_password,
            replica=_REPLICA,
            replica_password=self._secrets.replica_password,
        )
        write_if_changed(accounts, text, secret=True)
        owner = pwd.getpwuid(os.geteuid()).pw_name
        made = subprocess.run(
            [
                install.tool("mariadb-install-db"),
                "--no-defaults",
                f"--datadir={scratch}",
                # Meant for the server alone: told of a user, the script itself changes owners of
                # files, also outside of our directory, and trips over blanks in its path.
                f"--loose-user={owner}",
                "--auth-root-authentication-method=socket",
                f"--auth-root-socket-user={owner}",
                "--skip-name-resolve",
                "--skip-test-db",
                f"--extra-file={accounts}",
                "--innodb-log-file-size=64M",
            ],
            env={**self.environment(), "TMPDIR": str(scratch_tables)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        accounts.unlink()
        # The lines after it are general advice, which would hide the cause.
        self.log.write_text(made.stdout.partition("\nThe problem could be")[0])
        if made.returncode != 0:
            raise self._failure("could not make its data directory")
        scratch.rename(self.data)

    def query(self, sql: str, *, vertical: bool = False, timeout: float = _CLIENT_TIMEOUT) -> str:
        """The server's answer to `sql`, asked as its root over its Unix socket.

        Rows are lines of tab-separated values, or, if `vertical`, a "name: value" line a column.
        Raises NotReady with the server's words when it cannot be asked.
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

    def probe(self) -> str:
        found = self.query("SELECT @@server_id, @@read_only").split()
        expected = [str(self.server_id), str(int(self.read_only))]
        if found != expected:
            raise NotReady(f"answers as server {found}, expected {expected}")
        return "master"


class MariaDBSlave(MariaDBMaster):
    """A read-only server that applies what its master wrote."""

    read_only = True

    def __init__(
        self,
        name: str,
        root: Path,
        ports: Mapping[str, int],
        secrets: Secrets,
        *,
        server_id: int,
        master: MariaDBMaster,
    ) -> None:
        super().__init__(name, root, ports, secrets, server_id=server_id, domain=master.domain)
        self.master = master

    def settle(self) -> None:
        super().probe()
        if self._replication().get("Master_Port") != str(self.master.port):
            self.master.probe()
            self._follow()
        self.probe()

    def probe(self) -> str:
        super().probe()
        status = self._replication()
        running = status.get("Slave_IO_Running"), status.get("Slave_SQL_Running")
        if running != ("Yes", "Yes"):
            error = status.get("Last_IO_Error") or status.get("Last_SQL_Error") or "not replicating"
            raise NotReady(error)
        return f"replicates {self.master.name}, {status['Seconds_Behind_Master']} s behind"

    def _follow(self) -> None:
        """Begins to replicate, or goes on with a master that has moved to another port."""
        self.query(
            f"""
            STOP SLAVE;
            CHANGE MASTER TO MASTER_HOST='{HOST}', MASTER_PORT={self.master.port},
              MASTER_USER='{_REPLICA}', MASTER_PASSWORD='{self._secrets.replica_password}',
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
