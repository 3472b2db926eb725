"""The services beside the endpoint: the stores, the queue's worker, and the outbox's relay."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter

from datasources.calls import Calls, observed, observed_search
from datasources.factory import StoresConfig, close_stores, open_search, open_stores, open_switches
from datasources.protocols import Job, SearchStore, Sides, Stores, Switches
from datasources.recording import OK, Recording, outcome_of, recorded
from feed_engine.feeds.rows import Source
from feed_engine.feeds.settings import Feeds, FeedSettings, Weights
from feed_engine.feeds.smart.scores import HALF_LIFE
from feed_engine.live.hub import Hub
from feed_engine.live.waiting import Waiting
from feed_engine.outbox.completion import settle
from feed_engine.outbox.jobs import run_job
from feed_engine.related.upkeep import keep_built
from feed_engine.related.walks import Walks
from feed_engine.search.upkeep import keep_indexed
from feed_engine.speculation import ADAPTIVE, EAGER, FIXED, Policy, Race
from feed_engine.times import DAY
from gateway.observe.stores import Jobs
from gateway.observe.tracing import Tracer, tracing
from gateway.operate.imports.report import Progress
from gateway.settings import Feeds as FeedTable
from gateway.settings import Settings
from gateway.site import installation, inventory, learned_weights
from gateway.site.embedded_stores import embedded, is_all_embedded
from gateway.site.feed_routes import follow_routes
from gateway.site.graph import graph_file
from gateway.site.relays import work_for_host

log = logging.getLogger("pinway")

_POLICIES = {"adaptive": ADAPTIVE, "eager": EAGER, "fixed": FIXED}
"""The profiles of [feeds]."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """The open stores, and the feeds that use them."""

    stores: Stores
    feeds: Feeds
    calls: Calls = field(default_factory=Calls)
    """The measured calls of the stores."""
    jobs: Jobs = field(default_factory=Jobs)
    """The jobs that this process ran."""
    opened: Stores | None = None
    """The stores themselves, without the measuring of calls."""
    tracer: Tracer | None = None
    """Sends traces, if the settings name a collector."""
    walks: Walks | None = None
    """Finds related pins, unless the settings say no."""
    live: Hub | None = None
    """The streams of subscriptions."""
    waiting: Waiting | None = None
    """Looks for pins that wait in the pools of viewers with a stream."""
    search: SearchStore | None = None
    """The search index, unless the settings say no."""

    @property
    def races(self) -> dict[str, Race]:
        """The races, by the name of their stores."""
        return {"pools": self.feeds.pools_race, "feeds": self.feeds.feeds_race}


def feed_settings(settings: Settings) -> FeedSettings:
    feeds = settings.feeds
    mixed = (Source.FOLLOWED, Source.INTEREST, Source.RELATED)
    rates = dict(zip(mixed, map(int, feeds.rates.split(":")), strict=True))
    return FeedSettings(
        generator_seconds=feeds.chunk_seconds,
        chunk=feeds.chunk,
        rates=rates | {Source.POPULAR: 0},
        rates_power=feeds.rates_power,
        least_share=feeds.least_share,
        explore=feeds.explore,
        floor=-feeds.oldest_days * DAY / HALF_LIFE,
        following_cap=feeds.following_cap,
        pool_cap=feeds.pool_cap,
        interest_cap=feeds.pool_cap,
        popular_cap=feeds.popular_cap,
        weights=Weights(feeds.affinity_weight, feeds.likes_weight),
    )


@asynccontextmanager
async def running(
    settings: Settings,
    *,
    jobs: bool | None = None,
    create: Callable[[Progress], None] | None = None,
) -> AsyncIterator[Runtime]:
    """Open everything that the settings name, and run jobs (unless `jobs` is false) until the end.
    Raises Damaged when created data is missing, ConfigError when it was never created. With
    `create`, the stores that were never created are created, and `create` is told the progress."""
    async with (
        tracing(settings) as tracer,
        embedded(settings) as config,
        _opened(settings, config, create) as (opened, switches),
    ):
        calls = Calls()
        stores = observed(opened, calls)._replace(writes_per_day=settings.limits.writes_per_day)
        feeds = Feeds(
            stores,
            _race(settings, stores.pools),
            _race(settings, stores.feeds),
            feed_settings(settings),
        )
        await learned_weights.load(switches, feeds.learned)
        walks = Walks(stores, graph_file(settings)) if settings.jobs.related_hours else None
        search = open_search(config.search)
        if search is not None:
            search = observed_search(search, calls)
        runtime = Runtime(
            *(stores, feeds, calls),
            opened=opened,
            tracer=tracer,
            walks=walks,
            search=search,
            live=Hub(stores.broadcasts),
            waiting=Waiting(feeds),
        )
        tasks = [
            asyncio.create_task(stores.topology.follow()),
            asyncio.create_task(follow_routes(switches, runtime.races)),
            asyncio.create_task(learned_weights.follow(switches, feeds.learned)),
        ]
        try:
            if settings.jobs.run if jobs is None else jobs:
                tasks += [
                    asyncio.create_task(_work(runtime, settings)),
                    asyncio.create_task(work_for_host(stores, settings)),
                ]
                if walks is not None:
                    hours = settings.jobs.related_hours
                    tasks.append(asyncio.create_task(keep_built(stores, walks, hours=hours)))
                if search is not None:
                    tasks.append(asyncio.create_task(keep_indexed(opened, search)))
            yield runtime
        finally:
            for task in tasks:
                task.cancel()
            for task in tasks:
                with suppress(asyncio.CancelledError):
                    await task
            await settle()
            if walks is not None:
                await walks.close()
            if search is not None:
                await search.close()
            await feeds.pools_race.close()
            await feeds.feeds_race.close()


@asynccontextmanager
async def _opened(
    settings: Settings, config: StoresConfig, create: Callable[[Progress], None] | None
) -> AsyncIterator[tuple[Stores, Switches]]:
    """The stores, compared with the list of made stores."""
    if create is not None:
        await installation.seed(config, settings.stores.topology_seed)
    switches = open_switches(config.topology)
    try:
        await inventory.missing_before_opening(config, switches)
        stores = await open_stores(config)
        try:
            if create is None:
                await inventory.check(config, stores, switches)
            else:
                await installation.create(config, stores, switches, create)
            yield stores, switches
        finally:
            await close_stores(stores)
    finally:
        await switches.close()


def _race(settings: Settings, sides: Sides) -> Race:
    feeds = settings.feeds
    return Race(sides, cutoff=feeds.cutoff, deadline=feeds.deadline, policy=policy_of(feeds))


def policy_of(feeds: FeedTable) -> Policy:
    """The policy of the feeds' races: the profile's, with the cutoff that is set."""
    policy = _POLICIES[feeds.profile]
    return policy if policy is FIXED else replace(policy, ceiling=feeds.cutoff)


def jobs_at_a_time(settings: Settings) -> int:
    """How many jobs run at a time. Embedded stores work in this process, so several jobs end no
    sooner than one after the other, but each makes the steps of requests wait."""
    return 1 if is_all_embedded(settings) else settings.jobs.concurrency


async def _work(runtime: Runtime, settings: Settings) -> None:
    """Run the queue's jobs. A queue that fails is tried again, without limit."""
    while True:
        try:
            await runtime.stores.queue.work(
                partial(_run_job, runtime, settings),
                concurrency=jobs_at_a_time(settings),
                priorities=settings.jobs.queues,
            )
        except Exception:
            log.exception("the queue's worker stopped; it starts again in a second")
            await asyncio.sleep(1)


async def _run_job(runtime: Runtime, settings: Settings, job: Job) -> None:
    """Run a job, count it by its outcome, and send its trace."""
    began, outcome, tracer = perf_counter(), OK, runtime.tracer
    recording = Recording("job", "job") if tracer is not None else None
    try:
        with recorded(recording):
            await run_job(runtime.stores, job, settings=runtime.feeds.settings, walks=runtime.walks)
    except BaseException as error:
        outcome = outcome_of(error)
        raise
    finally:
        runtime.jobs.add(outcome, perf_counter() - began)
        if tracer is not None and recording is not None:
            recording.close(outcome)
            tracer.export_job(recording, "job", {"pinway.job": f"{job.shard}:{job.outbox_id}"})
