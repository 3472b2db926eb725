"""The peers under the attacks that need no schema: stock strawberry, and Mercurius.

Each peer answers the home feed of the benchmark `execution` from memory, and the honest client
requests pages of it. The peers have no goals: their figures show how a server without limits
behaves under the same attacks, on the same machine in the same run.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from bench.abuse.attacks import ATTACKS
from bench.abuse.attacks.wire import PEER
from bench.abuse.comparison import Course, Effort
from bench.abuse.site import Facts, Site
from bench.execution.contenders import MERCURIUS_JIT, STOCK, feed_contenders
from bench.execution.data import data
from bench.execution.environment import node
from bench.execution.servers import ahead_of_others, running
from bench.rows import Row

NAMES = {STOCK: "stock: ", MERCURIUS_JIT: "Mercurius: "}


def measure(folder: Path, effort: Effort) -> list[Row]:
    """The figures of each peer under each attack that can be sent to any server."""
    kept = folder / "data.json"
    kept.write_text(json.dumps(data()))
    contenders = feed_contenders(Path(sys.executable), node(), kept)
    names = [name for name, attack in ATTACKS.items() if attack.anywhere]
    rows: list[Row] = []
    for name, prefix in NAMES.items():
        print(name, file=sys.stderr, flush=True)
        course = Course(folder / "peer.json", effort, {PEER: "1"})
        # a new server for each, because the rest of an attack may take minutes
        for attack in names:
            with running(contenders[name], folder / "peer.log", ahead_of_others()) as server:
                course.run(Site(server, Facts(server.port)), [attack])
        rows += course.rows(prefix, judged=False)
    return rows
