"""`pinway` with a way back that kills itself with SIGKILL at its n-th seam, for `test_back.py`.

A seam is before and after each write to the old database, to the ledgers, and to the claims of old
ids.
"""

from datasources.mysql.source_writer import SourceWriter
from datasources.sql.mod import SqlMod
from gateway.operate.migration.back.ledger import BackLedger
from gateway.operate.migration.journal import Journal
from gateway.operate.migration.ledger import Ledger
from tests.migration.seams import Seams, run


def install(seams: Seams) -> None:
    for owner, name in (
        *((BackLedger, "settle"), (BackLedger, "keep"), (Ledger, "settle")),
        *((Journal, "set_fact"), (Journal, "forget_fact")),
    ):
        setattr(owner, name, seams.counted(getattr(owner, name)))
    written = ("insert", "update", "delete", "reserved", "let_write")
    for waits, name in ((SqlMod, "claim"), *((SourceWriter, name) for name in written)):
        setattr(waits, name, seams.awaited(getattr(waits, name)))


if __name__ == "__main__":
    run(install)
