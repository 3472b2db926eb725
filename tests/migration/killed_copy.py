"""`pinway` with a migration that kills itself with SIGKILL at its n-th seam, for `test_copy.py`.

A seam is before and after each write to the journal and to the shards.
"""

from gateway.operate.imports.load import Load
from gateway.operate.imports.spool import Spool
from gateway.operate.migration.journal import Journal
from tests.migration.seams import Seams, run


def install(seams: Seams) -> None:
    for owner, name in ((Spool, "many"), (Journal, "add_page"), (Journal, "note")):
        setattr(owner, name, seams.counted(getattr(owner, name)))
    for name in ("transact", "rows"):
        setattr(Load, name, seams.awaited(getattr(Load, name)))


if __name__ == "__main__":
    run(install)
