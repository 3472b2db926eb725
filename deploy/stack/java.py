"""Servers in Java: ZooKeeper, and HBase with its Thrift server, run from the jars of
`deploy/hbase/pom.xml`."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import escape

from deploy.stack import install, wire
from deploy.stack.ports import HOST
from deploy.stack.service import NotReady, Service

_INITIALIZED = b"Master has completed initialization"
_LOG_HEAD = 1 << 20

_ZOO = """\
dataDir={data}
clientPort={port}
clientPortAddress={host}
tickTime=2000
maxClientCnxns=0
admin.enableServer=false
4lw.commands.whitelist=ruok,srvr
autopurge.purgeInterval=1
"""


class JavaService(Service):
    """A JVM whose class path is its own `conf` and the shared jars."""

    jars = install.HBASE
    heap = "256m"
    main: tuple[str, ...] = ()

    def command(self) -> list[str]:
        return [
            install.tool("java"),
            f"@{self.jars.folder / 'jvm.options'}",
            f"-Xmx{self.heap}",
            *self.sharing(),
            f"-Djava.io.tmpdir={self._scratch}",
            *(f"-D{name}={value}" for name, value in self.properties().items()),
            # An archive of classes has the paths of its jars, which come first.
            *("-cp", f"{self.jars.class_path}:{self.dir / 'conf'}"),
            *self.main,
        ]

    def config(self) -> dict[Path, str]:
        return {Path("conf/log4j.properties"): self.text("log4j.properties")}

    def properties(self) -> dict[str, str]:
        """The system properties."""
        return {}

    def sharing(self) -> list[str]:
        """The options for the archive of classes, if there is one."""
        archive = install.class_archive(self.jars)
        made = archive.exists() and archive.stat().st_size > 0
        return [f"-XX:SharedArchiveFile={archive}"] if made else []

    def text(self, name: str) -> str:
        """A file beside the pom file of the jars."""
        return (self.jars.folder / name).read_text()

    def prepare(self) -> None:
        # A killed JVM leaves its unpacked native libraries behind.
        shutil.rmtree(self._scratch, ignore_errors=True)
        self._scratch.mkdir()

    @property
    def _scratch(self) -> Path:
        return self.dir / "java-tmp"


class ZooKeeper(JavaService):
    heap = "128m"

    def command(self) -> list[str]:
        main = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
        return [*super().command(), main, str(self.dir / "conf" / "zoo.cfg")]

    def config(self) -> dict[Path, str]:
        zoo = _ZOO.format(data=self.dir / "data", port=self.port, host=HOST)
        return {**super().config(), Path("conf/zoo.cfg"): zoo}

    def probe(self) -> str:
        return wire.zookeeper_mode(self.port)


class HBase(JavaService):
    """Master, region server and ZooKeeper of one cluster, in one process.

    Ports: "main" (the master's), "region", "zookeeper".
    """

    heap = "512m"
    main = ("org.apache.hadoop.hbase.master.HMaster", "start")
    ready_timeout = 180.0
    stop_grace = 40.0

    def config(self) -> dict[Path, str]:
        return {**super().config(), Path("conf/hbase-site.xml"): self.site()}

    def site(self) -> str:
        values = {
            "DIR": str(self.dir),
            "ZK_PORT": str(self.ports["zookeeper"]),
            "MASTER_PORT": str(self.port),
            "REGION_PORT": str(self.ports["region"]),
        }
        text = self.text("hbase-site.xml")
        for name, value in values.items():
            text = text.replace(f"@{name}@", escape(value))
        return text

    def probe(self) -> str:
        with self.log.open("rb") as log:
            if _INITIALIZED not in log.read(_LOG_HEAD):
                raise NotReady("the master is not initialized")
        wire.zookeeper_mode(self.ports["zookeeper"])
        return "initialized"


class HBaseThrift(JavaService):
    """The Thrift 1 server through which clients reach one cluster."""

    ready_timeout = 180.0

    def __init__(self, name: str, root: Path, ports: Mapping[str, int], *, cluster: HBase) -> None:
        super().__init__(name, root, ports)
        self.cluster = cluster

    def command(self) -> list[str]:
        main = "org.apache.hadoop.hbase.thrift.ThriftServer"
        options = ["--infoport", "-1", "-p", str(self.port), "-b", HOST, "start"]
        return [*super().command(), main, *options]

    def config(self) -> dict[Path, str]:
        end, own = "</configuration>", self.text("thrift.xml")
        site = self.cluster.site().replace(end, own + end)
        return {**super().config(), Path("conf/hbase-site.xml"): site}

    def probe(self) -> str:
        return f"{len(wire.hbase_tables(self.port))} tables"
