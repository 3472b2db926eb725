"""The server of each key, and the name of its entry there, by a list of servers.

Servers are chosen by rendezvous hashing: when a server is added or removed, only its keys move. See
`datasources.cache_lists` for the number in an entry's name.
"""

from hashlib import blake2b

from datasources.cache_lists import CacheList

FIRST = 1
"""The number of the first list, which no name carries."""


class Placement:
    """The places of keys by one list."""

    def __init__(self, known: CacheList) -> None:
        self.number = known.number
        self.addresses = list(known.servers)
        self._salts = {name: _salt(name) for name in known.servers}
        self._since = known.servers
        left = sorted(known.left.items(), key=lambda one: -one[1])
        self._left = {
            name: [(_salt(gone), last) for gone, last in left if last >= since]
            for name, since in known.servers.items()
        }

    def place(self, id: int) -> tuple[str, bytes]:
        """The address of a key's server, and the name of its entry."""
        key = b"pinway:%d" % id
        owner, salts = self.addresses[0], self._salts
        if len(salts) > 1:
            owner = max(salts, key=lambda name: _weight(salts[name], key))
        since = self._since[owner]
        if left := self._left[owner]:
            own = _weight(salts[owner], key)
            for salt, last in left:
                if _weight(salt, key) > own:
                    since = last + 1
                    break
        return owner, key if since == FIRST else b"%b@%d" % (key, since)


def _salt(address: str) -> bytes:
    return address.encode()[:64]


def _weight(salt: bytes, key: bytes) -> bytes:
    return blake2b(key, digest_size=8, key=salt).digest()
