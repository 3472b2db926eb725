"""The peers beside those attacks that know nothing of a schema: stock strawberry, and Mercurius.

Each peer answers the home feed of the benchmark `execution` from memory. The honest client asks for
pages of it. Nothing of the peers is judged: the figures tell what a server without bounds does
under the same attacks, on the same machine in the same run.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from bench.abuse.attacks import ATTACKS
from bench.abuse.beside import Course, Effort
from bench.abuse.site import Facts, Site
from bench.abuse.wire import PEER
from bench.execution.contenders import MERCURIUS_JIT, STOCK, feed_contenders
from bench.execution.data import data
from bench.execution.environment import node
from bench.execution.servers import ahead_of_others, running
from bench.rows import Row

NAMES = {STOCK: "stock: ", MERCURIUS_JIT: "Mercurius: "}


def measure(folder: Path, effort: Effort) -> list[Row]:
    """Each peer beside each attack that can be sent to any server."""
    kept = folder / "data.json"
    kept.write_text(json.dumps(data()))
    contenders = feed_contenders(Path(sys.executable), node(), kept)
    names = [name for name, attack in ATTACKS.items() if attack.anywhere]
    rows: list[Row] = []
    for name, prefix in NAMES.items():
        print(name, file=sys.stderr, flush=True)
        course = Course(folder / "peer.json", effort, {PEER: "1"})
        for attack in names:  # a server for each: what is left of an attack may take minutes
            with running(contenders[name], folder / "peer.log", ahead_of_others()) as server:
                course.run(Site(server, Facts(server.port)), [attack])
        rows += course.rows(prefix, judged=False)
    return rows
