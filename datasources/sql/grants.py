"""Reads the rights of a MySQL or MariaDB user from what the server answers to SHOW GRANTS."""

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

ALL = "ALL PRIVILEGES"
_NAME = r"\*|`(?:[^`]|``)*`|[\w$]+"
_STATEMENT = re.compile(rf"(GRANT|REVOKE) (.+?) ON ({_NAME})\.({_NAME}) (?:TO|FROM) ", re.DOTALL)
_RIGHT = re.compile(r"([A-Z][A-Z_ ]*[A-Z])(?: \(((?:`(?:[^`]|``)*`|[^)`])*)\))?")
_WILD = re.compile(r"\\.|[%_]|[^\\%_]+", re.DOTALL)


class _Grant(NamedTuple):
    """Rights on a database's table; "*" is each database, or each table. `right` → the columns, or
    None for all."""

    database: str
    table: str
    rights: dict[str, frozenset[str] | None]


class Grants:
    """The rights of a user. Active roles are a part of what the server answers. Rights on routines
    are left out.

    `statements` are the rows of SHOW GRANTS, `user` is the answer to CURRENT_USER(), and `version`
    the answer to VERSION().
    """

    def __init__(self, statements: Iterable[str], user: str, version: str) -> None:
        self.is_mariadb = "mariadb" in version.lower()
        numbers = [int(number) for number in re.findall(r"\d+", version)[:3]]
        self.version = (*numbers, 0, 0, 0)[:3]
        self._user = user
        self._granted, self._revoked = list[_Grant](), list[_Grant]()
        for text in statements:
            if found := _STATEMENT.match(text):
                grants = self._granted if found[1] == "GRANT" else self._revoked
                grants.append(_Grant(_bare(found[3]), _bare(found[4]), _rights(found[2])))

    def has(
        self, right: str, database: str = "", table: str = "", columns: Collection[str] = ()
    ) -> bool:
        """Whether the user has a right: on all of the server, on a database, on a table, or on
        these columns of a table."""
        wanted, held = _plain(right), set[str]()
        for grant in self._granted:
            if not self._covers(grant, wanted, database, table):
                continue
            some = grant.rights.get(wanted)
            if some is None:
                return True
            held |= some
        return bool(columns) and held.issuperset(columns)

    def statement(self, rights: Collection[str], database: str = "", table: str = "") -> str:
        """The statement that gives the user rights: on all of the server, on a database, or on a
        table."""
        name, _, host = self._user.rpartition("@")
        if table:
            on = f"{_quoted(database)}.{_quoted(table)}"
        else:
            on = f"{_quoted(_escaped(database))}.*" if database else "*.*"
        return f"GRANT {', '.join(rights)} ON {on} TO {_text(name)}@{_text(host)}"

    def _covers(self, grant: _Grant, right: str, database: str, table: str) -> bool:
        if not {right, ALL} & grant.rights.keys():
            return False
        if grant.database == "*":
            # MySQL's partial revokes take a right on all databases from a user for one of them.
            return not any(
                one.database == database and {right, ALL} & one.rights.keys()
                for one in self._revoked
            )
        if grant.table == "*":
            return _matches(grant.database, database)
        return (grant.database, grant.table) == (database, table)


def _rights(text: str) -> dict[str, frozenset[str] | None]:
    return {
        _plain(found[1]): frozenset(_bare(name) for name in re.findall(_NAME, found[2]))
        if found[2] is not None
        else None
        for found in _RIGHT.finditer(text)
    }


def _plain(right: str) -> str:
    """MariaDB writes READ_ONLY ADMIN in its answer, and takes READ ONLY ADMIN, too."""
    return right.replace("_", " ")


def _bare(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


def _quoted(name: str) -> str:
    escaped = name.replace("`", "``")
    return f"`{escaped}`"


def _escaped(database: str) -> str:
    """The pattern of a grant on databases that only this name matches."""
    return re.sub(r"[\\%_]", r"\\\g<0>", database)


def _text(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


def _matches(pattern: str, database: str) -> bool:
    """Whether a database's name matches the pattern of a grant on databases."""
    wild = {"%": ".*", "_": "."}
    parts = [wild.get(part) or re.escape(_unescaped(part)) for part in _WILD.findall(pattern)]
    return re.fullmatch("".join(parts), database, re.DOTALL) is not None


def _unescaped(part: str) -> str:
    return part[1:] if part.startswith("\\") else part
