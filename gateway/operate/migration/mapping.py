"""Reads a mapping file: which table and which columns of a source become which objects."""

from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import msgspec
from msgspec import Meta

from datasources import urls
from datasources.errors import ConfigError
from datasources.urls import BadUrl
from gateway.operate.imports.report import SOURCE, SOURCE_MEANING
from gateway.operate.migration.fields import FIELDS, OPTIONS, TARGETS
from gateway.operate.migration.located import BadYaml, Located, Place, read, shown

T = TypeVar("T")

_MEANINGS = {SOURCE: SOURCE_MEANING}
_MOST = 4 << 20  # bytes of a mapping file


class _Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    pass


class Origin(_Strict, frozen=True):
    """The column of a field, and how it is read: `charset` of its bytes, `unit` of a time that is a
    number, which number is `first` on a board, whether a flag is `inverted`, and the `issuer` of
    all subjects in the column."""

    column: str
    charset: str | None = None
    unit: Literal["seconds", "milliseconds"] | None = None
    first: Literal["lowest", "highest"] | None = None
    inverted: bool = False
    issuer: Annotated[str, Meta(min_length=1, max_length=255)] | None = None


class Back(_Strict, frozen=True):
    """The values of columns that no field fills, on the way back: of a `new` row, and of a
    `deleted` row that stays in the table."""

    new: dict[str, str | int | None] = {}
    deleted: dict[str, str | int | None] = {}


class _Table(_Strict, frozen=True):
    table: str
    becomes: str
    columns: dict[str, Any]
    where: str = ""
    back: Back = Back()


class _File(_Strict, frozen=True):
    name: Annotated[str, Meta(pattern=SOURCE)]
    source: str
    tables: Annotated[list[Any], Meta(min_length=1)]
    ca: str = ""


class TableMapping(NamedTuple):
    """A table of the source. `becomes` is a kind of line (docs/import.md), `columns` has the origin
    of each field, `place` is where the mapping file says so."""

    table: str
    becomes: str
    columns: dict[str, Origin]
    where: str
    place: Place
    back: Back = Back()


class Mapping(NamedTuple):
    """A mapping file. `ca`: the file with the certificates of the authorities that the source's
    certificate must come from; without it, the connection has no TLS."""

    file: Path
    located: Located
    name: str
    source: str
    ca: str
    tables: tuple[TableMapping, ...]

    def fault(self, place: Place, message: str) -> str:
        """A fault for people, with the file, the line and the path."""
        return _fault(self.file, self.located, place, message)


class BadMapping(ConfigError):
    """A mapping file has faults. The message has one line for each."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


def read_mapping(file: Path) -> Mapping:
    """The mapping in a file. Raises BadMapping with all faults that the file alone shows."""
    try:
        content = file.read_bytes()
        if len(content) > _MOST:
            raise BadMapping([f"{file}: it has over {_MOST:,} bytes: a mapping file has a few KiB"])
        located = read(content.decode())
    except OSError as error:
        raise BadMapping([f"can't read {file}: {error.strerror}"]) from None
    except UnicodeDecodeError as error:
        raise BadMapping([f"{file}: byte {error.start} is not UTF-8: save it as UTF-8"]) from None
    except BadYaml as error:
        raise BadMapping([f"{file}:{error.line}: {error}"]) from None
    return _Reader(file, located).mapping()


def _fault(file: Path, located: Located, place: Place, message: str) -> str:
    where = f"{shown(place)}: " if place else ""
    return f"{file}:{located.line(place)}: {where}{message}"


class _Reader:
    """Collects the faults of a document."""

    def __init__(self, file: Path, located: Located) -> None:
        self._file, self._located = file, located
        self._faults: list[str] = []

    def mapping(self) -> Mapping:
        top = self._convert((), self._located.data, _File)
        if top is None:
            raise BadMapping(self._faults)
        self._check_source(top.source)
        tables = []
        for n, given in enumerate(top.tables):
            table = self._table(("tables", n), given)
            if table is not None:
                tables.append(table)
        self._check_references(tables, whole=len(tables) == len(top.tables))
        if self._faults:
            raise BadMapping(self._faults)
        return Mapping(self._file, self._located, top.name, top.source, top.ca, tuple(tables))

    def _add(self, place: Place, message: str) -> None:
        self._faults.append(_fault(self._file, self._located, place, message))

    def _convert(self, place: Place, data: Any, type: type[T]) -> T | None:
        try:
            return msgspec.convert(data, type)
        except msgspec.ValidationError as error:
            message, _, path = str(error).partition(" - at `$")
            for pattern, meaning in _MEANINGS.items():
                message = message.replace(f"`str` matching regex {pattern!r}", meaning)
            if "unknown field" in message:
                message += f": use {', '.join(type.__struct_fields__)}"  # type: ignore[attr-defined]
            field = path.rstrip("`").removeprefix(".")
            self._add((*place, field) if field and "[" not in field else place, message)
            return None

    def _check_source(self, url: str) -> None:
        right = "it is like mysql://user@host:3306/database"
        try:
            parts = urls.split(url)
            if parts.scheme != "mysql":
                self._add(("source",), f"{urls.mask(url)} is no source: {right}")
                return
            urls.hosts(parts, port=3306)
            if not parts.path.strip("/") or "/" in parts.path.strip("/") or parts.query:
                raise BadUrl("it names one database after the host")
            if not parts.username:
                raise BadUrl("the user before the @ is missing")
            if parts.password:
                raise BadUrl("the password is in PINWAY_SOURCE_PASSWORD, not in the file")
        except BadUrl as error:
            self._add(("source",), f"{urls.mask(url)} can't be read: {error}; {right}")

    def _table(self, place: Place, given: Any) -> TableMapping | None:
        table = self._convert(place, given, _Table)
        if table is None:
            return None
        fields = FIELDS.get(table.becomes)
        if fields is None:
            self._add((*place, "becomes"), _unknown(table.becomes, FIELDS, "a kind of object"))
            return None
        before = len(self._faults)
        columns = {}
        for name, value in table.columns.items():
            at = (*place, "columns", name)
            if name not in fields:
                self._add(at, _unknown(name, fields, f"a field of a {table.becomes}"))
                continue
            origin = Origin(column=value) if isinstance(value, str) else None
            origin = origin or self._convert(at, value, Origin)
            if origin is not None:
                columns[name] = origin
                self._check_options(at, name, table.becomes, origin)
        if len(self._faults) == before:
            self._check_complete(place, table.becomes, columns)
        if len(self._faults) > before:
            return None
        return TableMapping(table.table, table.becomes, columns, table.where, place, table.back)

    def _check_options(self, place: Place, name: str, becomes: str, origin: Origin) -> None:
        form = FIELDS[becomes][name].form
        for option, forms in OPTIONS.items():
            if getattr(origin, option) and form not in forms:
                allowed = " or ".join(sorted(form.value for form in forms))
                self._add((*place, option), f"{name} is {form.value}: only {allowed} has {option}")
        if origin.charset is not None:
            try:
                "x".encode(origin.charset)
                b"x".decode(origin.charset, "replace")
            except (LookupError, ValueError):
                message = f"{origin.charset!r} is no encoding of text: use one like utf-8, cp1252"
                self._add((*place, "charset"), message)

    def _check_complete(self, place: Place, becomes: str, columns: dict[str, Origin]) -> None:
        missing = [
            name
            for name, field in FIELDS[becomes].items()
            if field.required and name not in columns
        ]
        if missing:
            what = "field" if len(missing) == 1 else "fields"
            message = f"a {becomes} needs the {what} {', '.join(missing)}: name their columns"
            self._add((*place, "columns"), message)
        targets = [name for name in TARGETS if name in columns]
        if becomes == "follow" and len(targets) != 1:
            message = f"a follow has one of user, board and interest, not {len(targets)}"
            self._add((*place, "columns"), message)
        self._check_subject(place, columns)
        sizes = [name for name in ("image_width", "image_height") if name in columns]
        if sizes and "image" not in columns:
            self._add((*place, "columns", sizes[0]), "a size needs the column of the image")

    def _check_subject(self, place: Place, columns: dict[str, Origin]) -> None:
        """A subject has one issuer: in a column, or the same for all users."""
        subject, issuer = columns.get("subject"), columns.get("issuer")
        if issuer is not None and (subject is None or issuer.issuer is not None):
            message = "it is the column of a subject's issuer: name the subject's column, too"
            self._add((*place, "columns", "issuer"), message)
        elif subject is not None and (subject.issuer is None) is (issuer is None):
            message = (
                "a subject needs its issuer, once: {column: NAME, issuer: https://id.example.org}, "
                "or the column of the field issuer"
            )
            self._add((*place, "columns", "subject"), message)

    def _check_references(self, tables: list[TableMapping], *, whole: bool) -> None:
        known = {table.becomes for table in tables}
        for table in tables if whole else ():
            for name in table.columns:
                kind = FIELDS[table.becomes][name].of
                if kind and kind not in known:
                    message = f"it is the old id of a {kind}, and no table becomes a {kind}"
                    self._add((*table.place, "columns", name), message)


def _unknown(name: str, known: dict[str, Any], what: str) -> str:
    close = get_close_matches(name, known, 1)
    meant = f"did you mean {close[0]}?" if close else f"use one of {', '.join(known)}"
    return f"{name!r} is not {what}: {meant}"
