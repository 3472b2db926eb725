"""The tables of the settings: each setting with its type, its default and its range."""

import re
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    HttpUrl,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from datasources.protocols import PRIORITIES
from gateway.settings.profiles import PROFILES, Profile, ProfileName, number

EMBEDDED = "embedded"
"""The value in place of a URL for a store that needs no server, under `data_dir`."""

_WEB_ADDRESS = TypeAdapter(HttpUrl)


def _split(value: Any) -> Any:
    if isinstance(value, str):
        return tuple(name.strip() for name in value.split(",") if name.strip())
    return value


def _web_address(value: str) -> str:
    try:
        if value:
            _WEB_ADDRESS.validate_python(value)
    except ValidationError:
        raise ValueError(
            "must be an http:// or https:// address, as https://pins.example"
        ) from None
    return value.rstrip("/")


def _is_here(address: str) -> bool:
    """Whether an address without its scheme is this machine's."""
    host = address.partition("/")[0].rpartition("@")[2]
    return re.fullmatch(r"(localhost|127\.0\.0\.1|\[::1\])(:\d+)?", host) is not None


Seconds = Annotated[float, Field(gt=0, le=3600)]
Weight = Annotated[float, Field(ge=0, le=10)]
Share = Annotated[float, Field(ge=0, le=1)]
Cap = Annotated[int, Field(ge=100, le=100_000)]
Port = Annotated[int, Field(ge=0, le=65535)]
Names = Annotated[tuple[str, ...], BeforeValidator(_split)]
"""A list; as text, separated by commas."""
WebAddress = Annotated[str, AfterValidator(_web_address)]


class Table(BaseModel):
    """A table of settings. docs/settings.md describes each setting."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


class Http(Table):
    """The addresses, what they serve to whom, and the limits of connections and requests."""

    host: str = "127.0.0.1"
    port: Port = 8000
    public_url: WebAddress = ""
    admin_host: str = "127.0.0.1"
    admin_port: Port = 0
    workers: int = Field(default=1, ge=1, le=256)
    graphiql: bool = True
    web: bool = True
    introspection: bool = True
    allowed_hosts: Names = ("localhost", "127.0.0.1", "[::1]")
    allowed_origins: Names = ()
    allowed_headers: Names = (
        *("accept", "authorization", "content-type", "x-request-id", "x-requested-with"),
        *("apollo-require-preflight", "graphql-require-preflight"),
        *("apollographql-client-name", "apollographql-client-version"),
        *("x-apollo-operation-name", "x-apollo-operation-id", "x-apollo-operation-type"),
        *("traceparent", "tracestate", "baggage", "sentry-trace"),
        *("x-pinway-cost", "x-pinway-trace"),
    )
    trusted_proxies: Names = ("127.0.0.1", "::1")
    request_timeout: Seconds = 10.0
    idle_timeout: Seconds = 5.0
    max_connections: int = Field(default=4_096, ge=1)
    max_connections_per_client: int = Field(default=256, ge=1)
    max_body_bytes: int = Field(default=1_000_000, ge=1_000)
    max_answers_bytes: int = Field(default=128 * 1024**2, ge=0)
    trusted_documents: Names = ()
    trusted_documents_only: bool = False
    automatic_documents: int = Field(default=1_000, ge=0)
    keep_alive: Seconds = 15.0
    max_streams_per_client: int = Field(default=64, ge=0)
    max_subscriptions_per_socket: int = Field(default=32, ge=1)
    public_max_age: int = Field(default=0, ge=0, le=86_400)
    federation: bool = False


class Auth(Table):
    """The tokens that say who sends a request."""

    secret: str = ""
    token_hours: int = Field(default=24 * 7, ge=1)
    demo_viewer: str = ""
    issuer: str = ""
    user_claim: str = Field(default="sub", min_length=1)
    subjects: bool = False
    keys: str = ""  # after `issuer`, which its validation reads

    @field_validator("secret")
    @classmethod
    def _long(cls, value: str) -> str:
        if value and len(value) < 32:
            raise ValueError("must be at least 32 characters, or left out to have one made")
        return value

    @field_validator("keys")
    @classmethod
    def _of_an_issuer(cls, value: str, info: ValidationInfo) -> str:
        scheme, of_address, rest = value.partition("://")
        if of_address and scheme != "https" and not (scheme == "http" and _is_here(rest)):
            raise ValueError(
                "must be a file, or an https:// address (http:// on this machine alone)"
            )
        if value and not info.data.get("issuer"):
            raise ValueError("needs auth.issuer: the claim iss of the issuer's tokens")
        return value


class StoreUrls(Table):
    """The stores' addresses, and what happens while one of them is away."""

    topology: str = EMBEDDED
    topology_seed: str = ""
    object_cache: str = "memory://?max_bytes=67108864"
    mapping_cache: str = EMBEDDED
    queue: str = EMBEDDED
    pools_primary: str = EMBEDDED
    pools_standby: str = EMBEDDED
    feeds_primary: str = EMBEDDED
    feeds_standby: str = EMBEDDED
    search: str = EMBEDDED
    pictures: str = EMBEDDED
    slave_reads: bool = True
    cache_refused_is_empty: bool = True
    cache_generations: bool = True


class MySql(Table):
    """Accounts and connections of the shard servers that the topology names."""

    user: str = "pinway"
    password: str = ""
    ca: str = ""
    operator_user: str = "pinway_operator"
    operator_password: str = ""
    connections: int = Field(default=32, ge=2, le=1_000)
    processes: int = Field(default=0, ge=0)


class Jobs(Table):
    """Background work."""

    run: bool = True
    queues: Names = PRIORITIES
    concurrency: int = Field(default=4, ge=1, le=256)
    relay_seconds: Seconds = 5.0
    related_hours: int = Field(default=24, ge=0, le=48)

    @field_validator("queues")
    @classmethod
    def _priorities(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value or not set(value) <= set(PRIORITIES):
            raise ValueError(f"must be some of {', '.join(PRIORITIES)}")
        return value


class Feeds(Table):
    """How feeds are read from the two sides of their stores."""

    profile: Literal["adaptive", "eager", "fixed"] = "adaptive"
    cutoff: Seconds = 0.05
    deadline: Seconds = 2.0
    chunk_seconds: Seconds = 0.15
    chunk: Annotated[int, Field(ge=1, le=500)] = 25
    rates: str = "5:3:2"
    rates_power: Weight = 2.0
    least_share: Annotated[float, Field(ge=0, le=0.3)] = 0.1
    affinity_weight: Weight = 0.5
    likes_weight: Weight = 0.5
    explore: Annotated[float, Field(ge=0, le=0.5)] = 0.0
    oldest_days: int = Field(default=3_600, ge=1, le=36_500)
    following_cap: Cap = 1_000
    pool_cap: Cap = 1_000
    popular_cap: Cap = 5_000

    @field_validator("rates")
    @classmethod
    def _three_rates(cls, value: str) -> str:
        parts = value.split(":")
        if len(parts) != 3 or not all(p.isascii() and p.isdecimal() and len(p) < 4 for p in parts):
            raise ValueError("must be three whole numbers from 0 to 999, such as 5:3:2")
        if not any(map(int, parts)):
            raise ValueError("must have one number above 0")
        return value


class Limits(Table):
    """Limits of the cost of operations, and of each client."""

    profile: ProfileName = "public"
    query_depth: int = Field(default_factory=number("query_depth"), ge=4)
    max_cost: int = Field(default_factory=number("max_cost"), ge=0)
    max_response_bytes: int = Field(default_factory=number("max_response_bytes"), ge=0)
    rate_cost: int = Field(default_factory=number("rate_cost"), ge=0)
    rate_burst: int = Field(default_factory=number("rate_burst"), ge=1_000)
    max_running: int = Field(default_factory=number("max_running"), ge=0)
    max_running_cost: int = Field(default_factory=number("max_running_cost"), ge=0)
    writes_per_day: int = Field(default_factory=number("writes_per_day"), ge=0)
    sign_ups_per_hour: int = Field(default_factory=number("sign_ups_per_hour"), ge=0)

    @property
    def numbers(self) -> Profile:
        """The profile, for its numbers that no setting overrides."""
        return PROFILES[self.profile]

    @field_validator("rate_burst")
    @classmethod
    def _affords_one(cls, value: int, info: ValidationInfo) -> int:
        dearest = info.data.get("max_cost", 0)
        if value < dearest:
            raise ValueError(f"must be at least max_cost, {dearest}: else that is never affordable")
        return value


class Telemetry(Table):
    """The log and the traces."""

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["text", "json"] = "text"
    slow_seconds: float = Field(default=0.0, ge=0, le=3600)
    traces: WebAddress = ""
    traces_share: Share = 1.0
