"""Every attack: a name, and what an attacker does until its time is over.

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
    texts,
    writes,
)
from bench.abuse.attacks.attacker import Attack

ATTACKS: dict[str, Attack] = {
    attack.name: attack
    for module in (
        *(documents, reads, connections, requests, writes, texts, errors, networks, quotas),
        *(strangers, long_texts),
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
