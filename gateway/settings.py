"""Every setting, read once at the start: from a TOML file, and from PINWAY_* in the environment.

The environment has precedence over the file. The embedded stores are the defaults, under
`data_dir`.
"""

import os
import secrets
import tomllib
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated, Any, Literal

from pydantic import (
    Field,
    HttpUrl,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from datasources.errors import ConfigError
from datasources.protocols import PRIORITIES
from feed_engine.ordering.spacing import Spacing
from gateway.server.fairness.held_bytes import CLIENTS_SHARE
from gateway.site.directory import check_directory
from gateway.site.setting_errors import Sources, check_environment, wrong

EMBEDDED = "embedded"
"""The value in place of a URL for a store that needs no server, under `data_dir`."""

Seconds = Annotated[float, Field(gt=0, le=3600)]
Share = Annotated[float, Field(ge=0, le=1)]
Names = Annotated[tuple[str, ...], NoDecode]
"""A list; in the environment, separated by commas."""
_WEB_ADDRESS = TypeAdapter(HttpUrl)
_BOOL = TypeAdapter(bool)


class Settings(BaseSettings):
    """The gateway's settings; each is documented in docs/settings.md."""

    model_config = SettingsConfigDict(env_prefix="PINWAY_", extra="forbid", frozen=True)

    data_dir: Path = Path(".pinway")
    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65535)
    admin_host: str = "127.0.0.1"
    admin_port: int = Field(default=0, ge=0, le=65535)
    public_url: str = ""
    workers: int = Field(default=1, ge=1, le=256)
    collector: Literal["short", "python"] = "short"
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["text", "json"] = "text"
    log_requests: bool = True
    slow_seconds: float = Field(default=0.0, ge=0, le=3600)
    traces: str = ""
    traces_share: Share = 1.0

    auth_secret: str = ""
    token_hours: int = Field(default=24 * 7, ge=1)
    issue_tokens: bool = True
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
    graphiql: bool = True
    web: bool = True
    demo_viewer: str = ""
    production: bool = False

    trusted_documents: Names = ()
    trusted_documents_only: bool = False
    automatic_documents: int = Field(default=1_000, ge=0)
    public_max_age: int = Field(default=0, ge=0, le=86_400)
    federation: bool = False

    topology: str = EMBEDDED
    topology_seed: str = ""
    mysql_user: str = "pinway"
    mysql_password: str = ""
    mysql_ca: str = ""
    mysql_operator_user: str = "pinway_operator"
    mysql_operator_password: str = ""
    mysql_connections: int = Field(default=32, ge=2, le=1_000)
    mysql_processes: int = Field(default=0, ge=0)
    slave_reads: bool = True
    object_cache: str = "memory://?max_bytes=67108864"
    mapping_cache: str = EMBEDDED
    cache_refused_is_empty: bool = True
    queue: str = EMBEDDED
    pools_primary: str = EMBEDDED
    pools_standby: str = EMBEDDED
    feeds_primary: str = EMBEDDED
    feeds_standby: str = EMBEDDED

    run_jobs: bool = True
    queues: Names = PRIORITIES
    job_concurrency: int = Field(default=4, ge=1, le=256)
    relay_seconds: Seconds = 5.0
    answers_days: int = Field(default=7, ge=1)
    visits_days: int = Field(default=30, ge=1)
    shown_days: int = Field(default=90, ge=1)
    related_hours: int = Field(default=24, ge=0, le=48)

    respace_threshold: int = Field(default=8, ge=1)
    respace_room: int = Field(default=40, le=52)
    respace_rows: int = Field(default=256, ge=16, le=5_000)

    request_timeout: Seconds = 10.0
    feed_policy: Literal["adaptive", "fixed"] = "adaptive"
    feed_cutoff: Seconds = 0.05
    feed_cutoff_most: Seconds = 0.05
    feed_extra_load: Share = 0.03
    feed_warm: Share = 0.01
    feed_finish: int = Field(default=0, ge=0, le=1000)
    feed_deadline: Seconds = 2.0
    home_generator_seconds: Seconds = 0.15
    max_connections: int = Field(default=4_096, ge=1)
    max_connections_per_client: int = Field(default=256, ge=1)
    max_header_bytes: int = Field(default=32_768, ge=1_024)
    max_headers: int = Field(default=100, ge=8)
    max_url_bytes: int = Field(default=16_384, ge=256)
    max_pipelined: int = Field(default=16, ge=1)
    max_unsent_bytes: int = Field(default=65_536, ge=1_024)
    header_timeout: Seconds = 10.0
    body_timeout: Seconds = 30.0
    idle_timeout: Seconds = 5.0
    write_timeout: Seconds = 30.0
    max_body_bytes: int = Field(default=1_000_000, ge=1_000)
    max_bodies_bytes: int = Field(default=64 * 1024**2, ge=4_000)
    max_body_values: int = Field(default=12_000, ge=100)
    max_query_tokens: int = Field(default=5_000, ge=100)
    max_query_depth: int = Field(default=16, ge=4)
    max_query_length: int = Field(default=200_000, ge=1_000)
    max_query_selections: int = Field(default=2_000, ge=50)
    max_query_root_fields: int = Field(default=30, ge=1)
    max_query_aliases: int = Field(default=100, ge=0)
    max_query_directives: int = Field(default=100, ge=0)
    max_query_operations: int = Field(default=50, ge=1)
    introspection: bool = True
    suggestions: bool = True
    max_cost: int = Field(default=50_000, ge=0)
    rate_cost: int = Field(default=10_000, ge=0)
    rate_burst: int = Field(default=1_000_000, ge=1_000)
    writes_per_day: int = Field(default=10_000, ge=0)
    sign_ups_per_hour: int = Field(default=20, ge=0)
    max_running: int = Field(default=100, ge=0)
    max_running_cost: int = Field(default=4_000, ge=0)
    client_share: float = Field(default=0.25, ge=0, le=1)
    max_response_bytes: int = Field(default=10_000_000, ge=0)
    max_answers_bytes: int = Field(default=128 * 1024**2, ge=0)
    document_cache: int = Field(default=1_000, ge=1)
    document_cache_bytes: int = Field(default=256 * 1024**2, ge=1_000_000)

    @model_validator(mode="before")
    @classmethod
    def _closed(cls, values: Any) -> Any:
        """In production, features that show the schema are off unless they are switched on."""
        with suppress(ValidationError):
            if _BOOL.validate_python(values.get("production", False)):
                closed = dict.fromkeys(("introspection", "suggestions", "graphiql"), False)
                return closed | values
        return values

    @field_validator("production")
    @classmethod
    def _without_development(cls, value: bool, info: ValidationInfo) -> bool:
        if value and not info.data.get("auth_secret"):
            raise ValueError("needs auth_secret: in production none is made")
        if value and info.data.get("demo_viewer"):
            raise ValueError("allows no demo_viewer (`pinway run` sets it; use `pinway serve`)")
        return value

    @field_validator("auth_secret")
    @classmethod
    def _long(cls, value: str) -> str:
        if value and len(value) < 32:
            raise ValueError("must be at least 32 characters, or left out to have one made")
        return value

    @field_validator("respace_room")
    @classmethod
    def _roomy(cls, value: int, info: ValidationInfo) -> int:
        least = 2 * info.data.get("respace_threshold", 1)
        if value < least:
            raise ValueError(
                f"must be at least twice respace_threshold, {least}: else gaps that were just "
                "widened are narrow again after a few moves"
            )
        return value

    @field_validator("max_bodies_bytes")
    @classmethod
    def _holds_one(cls, value: int, info: ValidationInfo) -> int:
        least = CLIENTS_SHARE * info.data.get("max_body_bytes", 0)
        if value < least:
            raise ValueError(
                f"must be at least {CLIENTS_SHARE} times max_body_bytes, {least}: a client may "
                f"hold 1/{CLIENTS_SHARE} of it, and could not send the largest body otherwise"
            )
        return value

    @field_validator("rate_burst")
    @classmethod
    def _affords_one(cls, value: int, info: ValidationInfo) -> int:
        dearest = info.data.get("max_cost", 0)
        if value < dearest:
            raise ValueError(f"must be at least max_cost, {dearest}: else that is never affordable")
        return value

    @field_validator("public_url", "traces")
    @classmethod
    def _web_address(cls, value: str) -> str:
        try:
            if value:
                _WEB_ADDRESS.validate_python(value)
        except ValidationError:
            raise ValueError(
                "must be an http:// or https:// address, as https://pins.example"
            ) from None
        return value.rstrip("/")

    @field_validator(
        *("allowed_hosts", "allowed_origins", "allowed_headers", "trusted_proxies", "queues"),
        "trusted_documents",
        mode="before",
    )
    @classmethod
    def _split(cls, value: Any) -> Any:
        if isinstance(value, str):
            return tuple(name.strip() for name in value.split(",") if name.strip())
        return value

    @field_validator("queues")
    @classmethod
    def _priorities(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value or not set(value) <= set(PRIORITIES):
            raise ValueError(f"must be some of {', '.join(PRIORITIES)}")
        return value

    @property
    def spacing(self) -> Spacing:
        """The conditions and the extent of respacing."""
        return Spacing(self.respace_threshold, self.respace_room, self.respace_rows)

    @property
    def url(self) -> str:
        """The gateway's own address."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.public_url or f"http://{host}:{self.port}"

    @property
    def operators_url(self) -> str:
        """The address where metrics are served."""
        host = f"[{self.admin_host}]" if ":" in self.admin_host else self.admin_host
        return f"http://{host}:{self.admin_port}" if self.admin_port else self.url

    @property
    def secret(self) -> str:
        """The key that signs tokens: set, or created once and stored under `data_dir`. Raises
        ConfigError when the stored key can't be used."""
        if self.auth_secret:
            return self.auth_secret
        check_directory(self.data_dir.resolve())
        path = self.data_dir / "auth_secret"
        try:
            if not path.exists():
                self.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
                _keep_once(path, secrets.token_hex(32))
            secret = path.read_text().strip()
        except OSError as error:
            raise ConfigError(f"can't keep the signing key in {path}: {error.strerror}") from None
        if not secret:
            raise ConfigError(f"{path} is empty: remove it, and a new key is made")
        return secret


def _keep_once(path: Path, text: str) -> None:
    """Create a file that only its owner can read, completely or not at all. An existing file
    stays."""
    with NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}-") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(file.name, path)


def read_settings(path: Path | None = None, **overrides: Any) -> Settings:
    """The settings of a TOML file and the environment. `overrides` (from the command line) have
    precedence.

    Raises ConfigError that says where each wrong setting was set.
    """
    values: dict[str, Any] = {}
    text = ""
    if path is not None:
        try:
            text = path.read_text()
            values = tomllib.loads(text)
        except OSError as error:
            raise ConfigError(f"can't read the settings file {path}: {error.strerror}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path} is not valid TOML: {error}") from None
    check_environment(os.environ, Settings.model_fields)

    class Layered(Settings):
        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            dotenv_settings: PydanticBaseSettingsSource,
            file_secret_settings: PydanticBaseSettingsSource,
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            return init_settings, env_settings, InitSettingsSource(settings_cls, values)

    try:
        return Layered(**overrides)
    except ValidationError as error:
        sources = Sources(overrides, os.environ, path, text)
        raise wrong(error, sources, Settings.model_fields) from None


def changed(settings: Settings, values: dict[str, Any]) -> Settings:
    """The settings with some other values, which are checked like all values. Raises
    ConfigError."""
    try:
        return Settings(**settings.model_dump(exclude_unset=True) | values)
    except ValidationError as error:
        raise wrong(error, Sources(values, {}), Settings.model_fields) from None
