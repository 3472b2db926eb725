"""The limits of one HTTP connection: sizes, depths and times."""

from dataclasses import dataclass

from gateway.settings import Settings


@dataclass(frozen=True, slots=True)
class Bounds:
    """Sizes are in bytes, times in seconds. docs/explanation/limits.md describes each."""

    body_bytes: int = 1_000_000
    upload_bytes: int = 10_000_000  # of an uploaded picture
    upload_seconds: float = 120.0
    idle_seconds: float = 5.0  # between two requests
    header_bytes: int = 32_768  # of all headers of a request together
    headers: int = 100
    url_bytes: int = 16_384  # with the query string, in which a GET sends an operation
    pipelined: int = 16  # requests before the answer to an earlier one
    unsent_bytes: int = 65_536  # beyond these, answers are produced more slowly
    header_seconds: float = 10.0
    body_seconds: float = 30.0
    write_seconds: float = 30.0  # in which a client must read `unsent_bytes`

    @property
    def shortest(self) -> float:
        """The shortest of the times: a connection is checked at least this often."""
        return min(self.header_seconds, self.body_seconds, self.idle_seconds, self.write_seconds)


def bounds_of(settings: Settings) -> Bounds:
    """The limits that the settings give each connection."""
    http = settings.http
    return Bounds(body_bytes=http.max_body_bytes, idle_seconds=http.idle_timeout)
