"""Operators' requests to open stores: done by a command, or by the gateway that has the stores
open."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from datasources.errors import BadInput, ConfigError, NotFound, StoreCorrupt, StoreError
from datasources.protocols import PRIORITIES, OutboxEntry, SearchStore, Stores
from feed_engine.outbox.completion import change_of
from feed_engine.outbox.priorities import of_tasks
from feed_engine.times import in_utc
from gateway.http.auth import Tokens
from gateway.operate import backup, doctor, explaining, reports, training, users
from gateway.operate.control import Answer, ask
from gateway.operate.imports.report import Progress
from gateway.settings import EMBEDDED, Settings
from gateway.site.graph import graph_file
from gateway.site.runtime import Runtime, running

OnProgress = Callable[[Progress], None]
WAITING, PARKED, SET_ASIDE = "waiting", "parked", "set aside"


async def answer(settings: Settings, request: Mapping[str, Any], on_progress: OnProgress) -> Answer:
    """The answer of the gateway that runs on the embedded stores. If no gateway runs, the stores
    are opened here. Raises PinwayError."""
    data = settings.data_dir.resolve()
    if settings.stores.topology == EMBEDDED:
        answered = await ask(data, request, on_progress)
        if answered is not None:
            return answered
    async with running(settings, jobs=False) as runtime:
        return await perform(settings, runtime, request, on_progress)


async def perform(
    settings: Settings, runtime: Runtime, request: Mapping[str, Any], on_progress: OnProgress
) -> Answer:
    """Do a request. Raises PinwayError."""
    stores = runtime.opened or runtime.stores
    match request["command"]:
        case "backup":
            data = settings.data_dir.resolve()
            return told(await backup.make(stores, data, Path(request["folder"]), on_progress))
        case "jobs list":
            return await list_jobs(stores, int(request["limit"]), parked=bool(request["parked"]))
        case "jobs show":
            return await show_job(stores, request["id"])
        case "jobs retry":
            return await change_jobs(stores, request["ids"], "retry")
        case "jobs drop":
            return await change_jobs(stores, request["ids"], "drop")
        case "doctor":
            found = await doctor.of_stores(settings, runtime.stores, runtime.search)
            return {"findings": [finding._asdict() for finding in found]}
        case "feed explain":
            return await explaining.explain_feed(runtime, request["username"], request["pin"])
        case "train":
            return await training.train_feed(
                *(runtime, int(request["viewers"]), int(request["seed"])),
                lambda done: on_progress(Progress("Viewers", done, None, "viewers")),
            )
        case "related build":
            return await build_graph(settings, runtime, on_progress)
        case "reports list":
            return await reports.list_cases(stores, request)
        case "reports show":
            return await reports.show_case(stores, request["id"])
        case "reports dismiss" | "reports remove":
            change = request["command"].removeprefix("reports ")
            return await reports.decide(stores, request["ids"], change, request["operator"])
        case "search rebuild":
            return await rebuild_search(runtime, on_progress)
        case "search status":
            return await search_status(runtime)
        case "token":
            return await token(settings, stores, request["username"])
        case "user find":
            return await users.find_user(settings, stores, request)
        case "user export":
            return await users.export_data(settings, stores, request, on_progress)
        case "user index-comments":
            return await users.index_of_comments(stores, on_progress)
    raise BadInput(f"there is no command {request['command']!r}")


def told(made: backup.Backup) -> dict[str, Any]:
    """A backup in plain values."""
    manifest = made.manifest
    return {
        "folder": str(made.folder),
        "made": manifest.made,
        "pinway": manifest.pinway,
        "files": len(manifest.files),
        "bytes": manifest.bytes,
    }


async def build_graph(
    settings: Settings, runtime: Runtime, on_progress: OnProgress
) -> dict[str, Any]:
    """Build the graph of related pins. Raises ConfigError when its file can't be written."""
    from feed_engine.related.build import build

    def on_pins(pins: int) -> None:
        on_progress(Progress("Pins", pins, None, "pins"))

    path = graph_file(settings)
    try:
        header = await build(runtime.opened or runtime.stores, path, on_pins=on_pins)
    except OSError as error:
        raise ConfigError(f"can't write {path}: {error.strerror or error}") from None
    return {"edges": header.edges}


async def rebuild_search(runtime: Runtime, on_progress: OnProgress) -> dict[str, Any]:
    """Build the search index again, while the index in use is read and written. Raises
    ConfigError if the settings have none, and StoreConflict if it is being built."""
    from feed_engine.search.build import build

    def on_objects(stage: str, objects: int) -> None:
        on_progress(Progress(stage, objects, None, "objects"))

    await build(runtime.opened or runtime.stores, _index(runtime), on_objects=on_objects)
    return await search_status(runtime)


async def search_status(runtime: Runtime) -> dict[str, Any]:
    """The state of the search index in plain values. Raises ConfigError if the settings have
    none."""
    found = await _index(runtime).status()
    return found._asdict() | {"state": found.state.value}


def _index(runtime: Runtime) -> SearchStore:
    if runtime.search is None:
        raise ConfigError("stores.search is empty: there is no search index")
    return runtime.search


async def token(settings: Settings, stores: Stores, username: str) -> dict[str, Any]:
    """A bearer token for a user. Raises NotFound."""
    id = await explaining.user_id(stores, username)
    return {"token": Tokens(settings.secret, settings.auth.token_hours).issue(id)}


async def list_jobs(stores: Stores, limit: int, *, parked: bool) -> dict[str, Any]:
    """The rows of the outboxes, whose jobs are in the queue, and the queue's lanes; without the
    queue, its fault."""
    entries = await stores.shards.outbox.listing(limit, parked=parked)
    backlog = await stores.shards.outbox.backlog()
    queue_fault = None
    try:
        lanes = await stores.queue.lanes()
    except StoreError as error:
        lanes, queue_fault = [], str(error)
    return {
        "jobs": [described(entry) for entry in entries],
        "rows": backlog.rows,
        "parked": backlog.parked,
        "unreachable": {server: str(error) for server, error in backlog.lost.items()},
        "queue": [lane._asdict() for lane in lanes],
        "queue_fault": queue_fault,
    }


async def show_job(stores: Stores, id: str) -> dict[str, Any]:
    """One row. Raises NotFound."""
    shard, number = _place(id)
    found = await stores.shards.outbox.entry(shard, number)
    if found is None:
        raise NotFound(f"there is no job {id}: it is done, or it never was")
    return described(found)


async def change_jobs(stores: Stores, ids: Sequence[str], change: str) -> dict[str, Any]:
    """Make rows due again, or remove them. Raises NotFound for a row that does not exist."""
    places = [_place(id) for id in ids]
    outbox = stores.shards.outbox
    for id, (shard, number) in zip(ids, places, strict=True):
        if await outbox.load(shard, number) is None:
            raise NotFound(f"there is no job {id}: it is done, or it never was")
    for shard, number in places:
        if change == "retry":
            await outbox.revive(shard, number)
        else:
            await outbox.finish(shard, number)
    return {"changed": list(ids), "change": change}


def described(entry: OutboxEntry) -> dict[str, Any]:
    """A row in plain values."""
    row = entry.row
    try:
        tasks = change_of(row).tasks
        named = [type(task).__name__ for task in tasks]
        priority, payload = of_tasks(tasks), msgspec.json.decode(row.payload)
    except StoreCorrupt:
        named, priority, payload = [row.kind], PRIORITIES[1], row.payload.decode(errors="replace")
    state = SET_ASIDE if entry.due is None else PARKED if row.attempts else WAITING
    return {
        "id": f"{row.shard}:{row.id}",
        "state": state,
        "tasks": named or ["completion"],
        "priority": priority,
        "written": in_utc(row.created, "milliseconds"),
        "due": None if entry.due is None else in_utc(entry.due, "milliseconds"),
        "attempts": row.attempts,
        "reason": entry.reason,
        "progress": row.cursor.decode(errors="replace") if row.cursor else None,
        "payload": payload,
    }


def _place(id: str) -> tuple[int, int]:
    shard, colon, number = id.partition(":")
    if not (colon and shard.isdecimal() and number.isdecimal()):
        raise BadInput(f"{id!r} is no job: `pinway jobs list` shows ids, as 12:345")
    return int(shard), int(number)
