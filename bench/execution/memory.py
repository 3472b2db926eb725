"""Measures the memory of cached plans. Prints a JSON object on the last line.

The benchmark runs it in a process of its own: in a process that did other work, new plans fit into
memory that this work freed, and the process grows by less than their size.
"""

import gc
import json
import os
from typing import Any, cast

import uvloop

from bench.execution import feed
from bench.execution.data import operations
from bench.processes import resident
from gateway.settings import Settings
from gateway.site.executors import DOCUMENTS, executor_of

WARM = 100
"""The number of plans that are cached before the measurement."""
USES = 2
"""Documents that were used once get an eighth of the cache. A document that is used twice stays."""


async def measure_memory(count: int) -> dict[str, int]:
    """Returns the bytes by which the process grows for `count` cached plans, the bytes that the
    cache counts for them (`counted`), and the number of plans that were cached (`plans`)."""
    executor = executor_of(feed.build(), Settings(), documents=WARM + count)

    async def use(texts: list[str]) -> tuple[int, int, int]:
        for text in texts:
            for _ in range(USES):
                context = cast(Any, feed.our_context(1))
                result = await executor.run(text, {"first": 1}, None, context)
                assert result.started
        gc.collect()
        return resident(os.getpid()), executor.stats.bytes, executor.stats.documents

    texts = operations(WARM + count)
    before = await use(texts[:WARM])
    after = await use(texts[WARM:])
    grown, counted, plans = (late - early for early, late in zip(before, after, strict=True))
    return {"bytes": grown, "counted": counted, "plans": plans}


if __name__ == "__main__":
    print(json.dumps(uvloop.run(measure_memory(DOCUMENTS))))
