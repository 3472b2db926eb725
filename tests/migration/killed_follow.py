"""`pinway` with a follower that kills itself with SIGKILL at its n-th seam, for `test_follow.py`.

A seam is before and after each write to the ledger, to the shards and to the claims of old ids.
"""

from gateway.operate.migration import writing
from gateway.operate.migration.journal import Journal
from gateway.operate.migration.ledger import Ledger
from gateway.operate.migration.writing import Writer
from tests.migration.seams import Seams, run


def install(seams: Seams) -> None:
    for owner, name in ((Ledger, "settle"), (Ledger, "look_at"), (Journal, "set_fact")):
        setattr(owner, name, seams.counted(getattr(owner, name)))
    for name in ("put", "take_away", "_put_edge", "_insert", "claim", "_take_name"):
        setattr(Writer, name, seams.awaited(getattr(Writer, name)))
    for name in ("commit", "delete_account", "delete_board", "delete_pin", "move_pin", "free"):
        setattr(writing, name, seams.awaited(getattr(writing, name)))


if __name__ == "__main__":
    run(install)
