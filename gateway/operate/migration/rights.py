"""The rights that each command of a migration needs in the source, and which of them its user does
not have."""

from collections.abc import Sequence
from typing import NamedTuple

from datasources.sql.grants import Grants
from gateway.operate.migration.source_checks import TablePlan

_WRITES = ("INSERT", "UPDATE", "DELETE")
_LOCKS = ("LOCK TABLES", "UPDATE", "DELETE")
"""The rights of which MySQL wants any one for a read with a lock."""
_READ_ONLY_ADMIN = (10, 5, 2)
"""The version of MariaDB that divided SUPER into rights of their own."""
_NOT_IN_SUPER = (10, 11, 0)
"""The version of MariaDB from which SUPER does not include READ ONLY ADMIN."""
_DYNAMIC = (8, 0, 0)
"""The version of MySQL that has the rights with underscores in their names."""


class Missing(NamedTuple):
    """Rights that `commands` need and the user does not have. `on`: a table's or a database's name,
    empty for the whole server. `grant` is the statement that gives them."""

    rights: tuple[str, ...]
    on: str
    commands: tuple[str, ...]
    grant: str

    def words(self) -> str:
        """The rights for people."""
        verb = "needs" if len(self.commands) == 1 else "need"
        where = f" on {self.on}" if self.on else ""
        commands, rights = " and ".join(self.commands), " and ".join(self.rights)
        return f"{commands} {verb} {rights}{where}: {self.grant};"


class _Need(NamedTuple):
    """A right on the whole server. Any of `names` is enough; the first is the one to ask for."""

    names: tuple[str, ...]
    commands: tuple[str, ...]


def missing_rights(grants: Grants, database: str, plans: Sequence[TablePlan]) -> list[Missing]:
    """The rights that the user does not have, beside SELECT, which `plans` has found."""
    found = []
    for names, commands in _needs(grants):
        if not any(map(grants.has, names)):
            found.append(Missing(names[:1], "", commands, grants.statement(names[:1])))
    tables = list(dict.fromkeys(plan.table.name for plan in plans))
    if not grants.is_mariadb and not all(
        any(grants.has(right, database, table) for right in _LOCKS) for table in tables
    ):
        commands = ("follow", "verify --repair", "cut-over")
        found.append(
            Missing(_LOCKS[:1], database, commands, grants.statement(_LOCKS[:1], database))
        )
    for table in tables:
        rights = tuple(right for right in _WRITES if not grants.has(right, database, table))
        if rights:
            found.append(
                Missing(rights, table, ("back",), grants.statement(rights, database, table))
            )
    return found


def _needs(grants: Grants) -> list[_Need]:
    if not grants.is_mariadb:
        follows = ("follow", "cut-over", "back --end")
        needs = [_Need(("REPLICATION CLIENT",), follows)]
        if grants.version >= _DYNAMIC:
            needs.append(_Need(("SYSTEM_VARIABLES_ADMIN", "SUPER"), ("cut-over", "back --end")))
            needs.append(_Need(("CONNECTION_ADMIN", "SUPER"), ("back",)))
            needs.append(_Need(("XA_RECOVER_ADMIN",), ("cut-over",)))
        else:
            needs.append(_Need(("SUPER",), ("cut-over", "back")))
    elif grants.version < _READ_ONLY_ADMIN:
        needs = [
            _Need(("REPLICATION CLIENT",), ("cut-over",)),
            _Need(("SUPER",), ("cut-over", "back")),
        ]
    else:
        stops = ("READ ONLY ADMIN", *(() if grants.version >= _NOT_IN_SUPER else ("SUPER",)))
        needs = [_Need(("BINLOG MONITOR",), ("cut-over",)), _Need(stops, ("cut-over", "back"))]
    followed = _Need(("REPLICATION SLAVE",), ("follow", "cut-over"))
    return [followed, *needs, _Need(("RELOAD",), ("cut-over",))]
