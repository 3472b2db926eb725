"""The home of all attacks, which `bench/abuse` sends and `tests/security` runs.

An attack has a name, and a function that an attacker runs until its time is over. `shapes` has the
documents, `wire` the requests, and `mutants` the mutated requests.

A flood is one line in the module of its subject. An attack that breaks the rules of a connection is
a function in `connections.py`.
"""

from bench.abuse.attacks import (
    connections,
    documents,
    errors,
    long_texts,
    networks,
    quotas,
    reads,
    requests,
    strangers,
    streams,
    texts,
    writes,
)
from bench.abuse.attacks.attacker import Attack

ATTACKS: dict[str, Attack] = {
    attack.name: attack
    for module in (
        *(documents, reads, connections, requests, writes, texts, errors, networks, quotas),
        *(strangers, long_texts, streams),
    )
    for attack in module.ATTACKS
}
CRITICAL = (
    "nested fragments and aliases, POST",
    "refused unique documents",
    "pages of a secret board",
    "headers without end",
    "pipelining without reading",
    "errors: behind 20,000 lines",
)
"""The attacks that a quick run must include."""
