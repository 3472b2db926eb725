"""All settings, as a gateway uses them: `settings.http.port`."""

import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from pydantic import (
    BaseModel,
    ConfigDict,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from datasources.errors import ConfigError
from gateway.settings.tables import (
    Auth,
    Feeds,
    Http,
    Jobs,
    Limits,
    MySql,
    StoreUrls,
    Table,
    Telemetry,
)
from gateway.site.directory import check_directory

_SHOWS_THE_SCHEMA = ("introspection", "graphiql")
_BOOL = TypeAdapter(bool)


class Settings(BaseModel):
    """The gateway's settings. Immutable; `read_settings` reads them from their sources."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    data_dir: Path = Path(".pinway")
    http: Http = Http()
    auth: Auth = Auth()
    stores: StoreUrls = StoreUrls()
    mysql: MySql = MySql()
    jobs: Jobs = Jobs()
    feeds: Feeds = Feeds()
    limits: Limits = Limits()
    telemetry: Telemetry = Telemetry()
    production: bool = False  # after the tables that its validation reads

    @model_validator(mode="before")
    @classmethod
    def _closed(cls, values: Any) -> Any:
        """In production, features that show the schema are off unless they are switched on."""
        with suppress(ValidationError):
            if _BOOL.validate_python(values.get("production", False)):
                http = values.get("http", {})
                if isinstance(http, Http):
                    http = http.model_dump(exclude_unset=True)
                if isinstance(http, Mapping):
                    closed = dict.fromkeys(_SHOWS_THE_SCHEMA, False)
                    return values | {"http": closed | dict(http)}
        return values

    @field_validator("production")
    @classmethod
    def _without_development(cls, value: bool, info: ValidationInfo) -> bool:
        auth = info.data.get("auth")
        if value and auth is not None:
            if not auth.secret:
                raise ValueError("needs auth.secret: in production none is made")
            if auth.demo_viewer:
                raise ValueError(
                    "allows no auth.demo_viewer (`pinway run` sets it; use `pinway serve`)"
                )
        return value

    @property
    def url(self) -> str:
        """The gateway's own address."""
        return self.http.public_url or _address(self.http.host, self.http.port)

    @property
    def operators_url(self) -> str:
        """The address where metrics are served."""
        port = self.http.admin_port
        return _address(self.http.admin_host, port) if port else self.url

    @property
    def secret(self) -> str:
        """The key that signs tokens: set, or created once and stored under `data_dir`. Raises
        ConfigError when the stored key can't be used."""
        if self.auth.secret:
            return self.auth.secret
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


TABLES: dict[str, type[Table]] = {
    name: field.annotation
    for name, field in Settings.model_fields.items()
    if isinstance(field.annotation, type) and issubclass(field.annotation, Table)
}
"""The tables of a settings file, by name."""
NAMES: tuple[str, ...] = (
    *(name for name in Settings.model_fields if name not in TABLES),
    *(f"{table}.{name}" for table, model in TABLES.items() for name in model.model_fields),
)
"""All settings; a setting of a table has the table's name and a dot before its own."""
TABLES_WITH_PROFILE = tuple(
    name for name, model in TABLES.items() if "profile" in model.model_fields
)


def _address(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _keep_once(path: Path, text: str) -> None:
    """Create a file that only its owner can read, completely or not at all. An existing file
    stays."""
    with NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}-") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(file.name, path)
