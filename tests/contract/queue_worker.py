"""A worker process for the queue's suite. It prints which job it runs, and never finishes the
job."""

import asyncio
import sys

from datasources.protocols import Job
from datasources.streaq import StreaqQueue


async def run(job: Job) -> None:
    print(f"{job.shard}:{job.outbox_id}", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(StreaqQueue(sys.argv[1], takeover=float(sys.argv[2])).work(run))
