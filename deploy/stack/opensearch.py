"""OpenSearch, one node, run from the jars of `deploy/opensearch/pom.xml`."""

from pathlib import Path

from deploy.stack import install, wire
from deploy.stack.java import JavaService
from deploy.stack.ports import HOST


class OpenSearch(JavaService):
    """Ports: "main" (HTTP) and "transport" (between nodes)."""

    jars = install.OPENSEARCH
    heap = "512m"
    main = ("org.opensearch.bootstrap.OpenSearch",)
    ready_timeout = 180.0
    stop_grace = 40.0

    def properties(self) -> dict[str, str]:
        return {
            "opensearch.path.home": str(self.jars.made),
            "opensearch.path.conf": str(self.dir / "conf"),
        }

    def config(self) -> dict[Path, str]:
        values = {
            "HOST": HOST,
            "PORT": str(self.port),
            "TRANSPORT_PORT": str(self.ports["transport"]),
            "DATA": str(self.dir / "data"),
            "LOGS": str(self.dir / "logs"),
        }
        text = self.text("opensearch.yml")
        for name, value in values.items():
            text = text.replace(f"@{name}@", value)
        return {
            Path("conf/opensearch.yml"): text,
            Path("conf/log4j2.properties"): self.text("log4j2.properties"),
        }

    def probe(self) -> str:
        return wire.opensearch_health(self.port)
