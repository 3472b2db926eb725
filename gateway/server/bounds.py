"""The limits of one HTTP connection: sizes, depths and times from the settings."""

from dataclasses import dataclass

from gateway.settings import Settings


@dataclass(frozen=True, slots=True)
class Bounds:
    """Sizes are in bytes, times in seconds. docs/settings.md describes each."""

    header_bytes: int
    headers: int
    url_bytes: int
    body_bytes: int
    pipelined: int
    unsent_bytes: int
    header_seconds: float
    body_seconds: float
    idle_seconds: float
    write_seconds: float

    @property
    def shortest(self) -> float:
        """The shortest of the times: a connection is checked at least this often."""
        return min(self.header_seconds, self.body_seconds, self.idle_seconds, self.write_seconds)


def bounds_of(settings: Settings) -> Bounds:
    """The limits that the settings give each connection."""
    return Bounds(
        header_bytes=settings.http.max_header_bytes,
        headers=settings.http.max_headers,
        url_bytes=settings.http.max_url_bytes,
        body_bytes=settings.http.max_body_bytes,
        pipelined=settings.http.max_pipelined,
        unsent_bytes=settings.http.max_unsent_bytes,
        header_seconds=settings.http.header_timeout,
        body_seconds=settings.http.body_timeout,
        idle_seconds=settings.http.idle_timeout,
        write_seconds=settings.http.write_timeout,
    )
