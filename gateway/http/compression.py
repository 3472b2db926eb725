"""Compression of answers with gzip: for which clients and answers, and in which slices.

Compression can betray a secret: somebody who can add text to an answer, and sees how long the
compressed answer is, learns whether the text is in the answer already (BREACH, 2013). So an
operation's answer is compressed only if it has nothing that a stranger may not see: it answers a
query without a viewer. An answer to a viewer has the viewer's secret boards beside texts that
others wrote, and the answer to a mutation may have a token. Built files are the same for everybody,
and are compressed once (`gateway/http/files.py`).

Level 1 is used for answers: it takes a quarter of the time of level 6, and the result is about a
tenth longer.
"""

import asyncio
import zlib
from functools import lru_cache

from gateway.http.requests import quality

LEAST, MOST = 2_000, 4_000_000
"""Bytes of the answers that are compressed. Less is not worth the time, and more takes too much of
it: 4 MB take about 40 ms of processor time, which are charged to the client."""
SLICE = 32_768
"""Bytes that are compressed in one turn of the event loop: about 0.3 milliseconds."""
LEVEL = 1
_GZIP = 31  # zlib's window of 32 KB, with gzip's head and end


@lru_cache(maxsize=128)  # a client sends the same header each time
def accepts_gzip(accept: bytes | str | None) -> bool:
    """Whether the client takes gzip, and does not prefer an answer as it is, by its header
    Accept-Encoding (RFC 9110, section 12.5.3)."""
    if not accept:
        return False
    text = accept.decode("latin-1") if isinstance(accept, bytes) else accept
    weights: dict[str, float] = {}
    for part in text.lower().split(",", 32)[:32]:
        coding, _, options = part.partition(";")
        weights[coding.strip()] = quality(options)
    others = weights.get("*", 0.0)
    weight = weights.get("gzip", weights.get("x-gzip", others))
    return weight > 0 and weight >= weights.get("identity", others)


async def compressed(parts: list[bytes]) -> list[bytes]:
    """The parts as gzip. Other requests proceed between two slices."""
    gzip = zlib.compressobj(LEVEL, zlib.DEFLATED, _GZIP)
    found: list[bytes] = []
    waiting = 0
    for part in parts:
        for at in range(0, len(part), SLICE):
            some = part[at : at + SLICE]
            found.append(gzip.compress(some))
            waiting += len(some)
            if waiting >= SLICE:
                waiting = 0
                await asyncio.sleep(0)
    return [*filter(None, found), gzip.flush()]
