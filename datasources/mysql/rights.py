"""The statements that ask a server for the rights of the user, and the answer."""

from collections.abc import Sequence

from datasources.sql.engine import Result
from datasources.sql.grants import Grants

ASK = "SELECT CURRENT_USER(), VERSION(); SHOW GRANTS"


def decoded(results: Sequence[Result]) -> Grants:
    """The rights, from the results of `ASK`."""
    [(user, version)] = results[0].rows
    return Grants((text.decode() for (text,) in results[1].rows), user.decode(), version.decode())
