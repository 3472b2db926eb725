"""ZooKeeper and HBase with its Thrift server, run from the jars of `deploy/hbase/pom.xml`."""

from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import escape

from deploy.stack import install, wire
from deploy.stack.ports import HOST
from deploy.stack.service import NotReady, Service

_SITE = Path(__file__).parent.parent / "hbase" / "hbase-site.xml"

_LOG4J = """\
log4j.rootLogger=WARN,console
log4j.logger.org.apache.hadoop.hbase.master.HMaster=INFO
log4j.logger.org.apache.hadoop.util.NativeCodeLoader=ERROR
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %-5p [%t] %c{2}: %m%n
"""

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

# Java 17 closes its insides to Hadoop's and HBase's libraries unless told otherwise.
_OPENS = [
    *("--add-opens", "java.base/java.lang=ALL-UNNAMED"),
    *("--add-opens", "java.base/java.nio=ALL-UNNAMED"),
    *("--add-opens", "java.base/sun.nio.ch=ALL-UNNAMED"),
    *("--add-exports", "java.base/jdk.internal.misc=ALL-UNNAMED"),
    *("--add-exports", "java.base/jdk.internal.ref=ALL-UNNAMED"),
]


class JavaService(Service):
    """A JVM whose class path is its own `conf` and the shared jars."""

    heap = "256m"
    main: tuple[str, ...] = ()

    def command(self) -> list[str]:
        return [
            install.tool("java"),
            f"-Xmx{self.heap}",
            f"-Djava.io.tmpdir={self.dir / 'tmp'}",
            "-XX:-UsePerfData",
            *_OPENS,
            *("-cp", f"{self.dir / 'conf'}:{install.HBASE_LIB}/*"),
            *self.main,
        ]

    def config(self) -> dict[Path, str]:
        return {Path("conf/log4j.properties"): _LOG4J}

    def prepare(self) -> None:
        (self.dir / "tmp").mkdir(exist_ok=True)


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
        text = _SITE.read_text()
        for name, value in values.items():
            text = text.replace(f"@{name}@", escape(value))
        return text

    def probe(self) -> str:
        if "Master has completed initialization" not in self.log.read_text(errors="replace"):
            raise NotReady("the master is not initialized")
        return wire.zookeeper_mode(self.ports["zookeeper"])


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
        return {**super().config(), Path("conf/hbase-site.xml"): self.cluster.site()}

    def probe(self) -> str:
        return f"{len(wire.hbase_tables(self.port))} tables"
