"""Global transaction ids and positions as MariaDB writes them: `domain-server-sequence[,...]`."""

from collections.abc import Collection, Iterable
from typing import NamedTuple


class Gtid(NamedTuple):
    domain: int
    server: int
    sequence: int


def parsed(position: str) -> list[Gtid]:
    return [
        Gtid(*map(int, part.strip().split("-"))) for part in position.split(",") if part.strip()
    ]


def text(gtids: Iterable[Gtid]) -> str:
    """The position that `parsed` reads."""
    return ",".join("-".join(map(str, gtid)) for gtid in gtids)


def later(one: str, other: str) -> str:
    """The last transaction of each domain in two positions."""
    found: dict[int, Gtid] = {}
    for gtid in (*parsed(one), *parsed(other)):
        if gtid.domain not in found or gtid.sequence >= found[gtid.domain].sequence:
            found[gtid.domain] = gtid
    return text(found.values())


def earliest(positions: Collection[str]) -> str:
    """The position that is in all these positions. A domain that one of them lacks is left out, so
    it is read from its beginning."""
    found = [{gtid.domain: gtid for gtid in parsed(position)} for position in positions]
    common = set.intersection(*(set(one) for one in found))
    firsts = [
        min((one[domain] for one in found), key=lambda gtid: gtid.sequence)
        for domain in sorted(common)
    ]
    return text(firsts)


def only_logged(position: str, known: str, logged: str) -> str:
    """A position without the transactions of a known position in whose domains nothing was logged.
    The position has no other transactions before the log."""
    domains = {gtid.domain for gtid in parsed(logged)}
    unlogged = {gtid for gtid in parsed(known) if gtid.domain not in domains}
    return text(gtid for gtid in parsed(position) if gtid not in unlogged)


def is_before(one: str, other: str) -> bool:
    """Whether a position lacks transactions that another position has."""
    return any(last_in(one, gtid.domain) < gtid.sequence for gtid in parsed(other))


def contains(of_master: str, own: str) -> bool:
    """Whether a binary log with the first state has all events of the second state. A state has the
    last transaction of each domain and server."""
    known = {(domain, server): sequence for domain, server, sequence in parsed(of_master)}
    return all(
        known.get((domain, server), 0) >= sequence for domain, server, sequence in parsed(own)
    )


def last_in(position: str, domain: int) -> int:
    """The last sequence number of a domain; 0 where the position has none."""
    return max((gtid.sequence for gtid in parsed(position) if gtid.domain == domain), default=0)
