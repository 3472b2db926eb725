"""The progress of jobs, visits, and the answers under idempotency keys: what a process stores in
the shards, and a process of another version reads."""

from typing import Any

import msgspec

from datasources.ids import Kind, compose
from datasources.mappings import ListKey, Mapping
from datasources.protocols import Job, OutboxRow, Visit
from datasources.records import Image
from datasources.streaq import worker
from feed_engine.feeds import fanout, lanes, visits
from feed_engine.feeds.rows import Reason
from feed_engine.ordering import arrange, respace_job
from feed_engine.ordering.spacing import Window
from feed_engine.outbox import jobs
from feed_engine.transactions import hold, inputs
from feed_engine.transactions.commit import Mutation, Saved
from feed_engine.writes import board_tasks
from tests.unit.versions.samples import Kept

USER, BOARD, PIN = compose(3, Kind.USER, 7), compose(3, Kind.BOARD, 8), compose(3, Kind.PIN, 9)
OTHER = compose(4, Kind.PIN, 10)
SEQUENCE = 10**37
IMAGE = Image("https://example.org/a.jpg", 736, 1104, "#aabbcc")

REACHED = fanout.Reached(1, str(SEQUENCE), USER)
PLACES = {
    "planned": f"[{USER}]",
    "popular primary": lanes.DONE,
    "feeds primary": msgspec.json.encode(REACHED).decode(),
    "pools standby": "",
}
PROGRESS = jobs.Progress(1, msgspec.json.encode(PLACES))
CHUNK = visits.Chunk(
    ((PIN, Reason.FOLLOWED_USER), (OTHER, Reason.POPULAR)), "STANDBY", 3, 1_700_000_000_000, True
)
SAVED = Saved(PIN, (BOARD, PIN, str(SEQUENCE), 4, True), 2, 5, PIN, OTHER, BOARD, 6)
PLAN = arrange.Plan(BOARD, (PIN, OTHER), 0, PIN)
HELD = hold._Held(((Mapping.BOARD_HAS_PINS.code, BOARD), (Mapping.USER_HAS_PINS.code, USER)))
JOB = Job(3, 12)

INPUTS: dict[str, inputs.Input] = {
    "createUser": inputs.NewUser(username="ann", full_name="Ann", avatar=IMAGE),
    "createBoard": inputs.NewBoard(name="Tea", secret=True),
    "updateBoard": inputs.Target(id=BOARD, change=inputs.BoardChange(name="Teas")),
    "createPin": inputs.NewPin(board_id=BOARD, title="Gyokuro", image=IMAGE, interest_ids=(1,)),
    "updatePin": inputs.Target(id=PIN, change=inputs.PinChange(title="Sencha", link=None)),
    "repin": inputs.Repin(pin_id=PIN, board_id=BOARD),
    "createComment": inputs.NewComment(pin_id=PIN, text="Hot?"),
    "reorderPin": inputs.Reorder(board_id=BOARD, pin_id=PIN, after_pin_id=OTHER),
    "movePin": inputs.Move(pin_id=PIN, board_id=BOARD),
    "reorderPins": inputs.Arrange(board_id=BOARD, pin_ids=(PIN, OTHER)),
}


def _fingerprints() -> dict[str, str]:
    """The inputs in the form to which an idempotency key is bound. With another fingerprint, a
    client that sends its input again after an upgrade would be told that the key was used for
    another input."""
    return {
        name: Mutation(name, 3, USER, "key", given).fingerprint().hex()
        for name, given in INPUTS.items()
    }


def _typed(type_: Any) -> Any:
    return lambda data: msgspec.json.decode(data, type=type_)


def _visit(data: bytes) -> visits.Chunk:
    return visits.remembered(Visit(USER, 5, "name", data, False, 1_700_000_000_000)).chunk


def _lane_places(data: bytes) -> dict[str, str]:
    of_all = dict.fromkeys(PLACES)
    return fanout._places(data, of_all)  # type: ignore[arg-type]


def _lists(data: bytes) -> tuple[ListKey, ...]:
    held = hold._HELD.decode(data)
    return tuple(ListKey(hold.BY_CODE[code], from_id) for code, from_id in held.lists)


def _job(data: bytes) -> Job:
    return Job(*msgspec.json.decode(data)["a"])


def _progress(data: bytes) -> jobs.Progress:
    return jobs._progress(OutboxRow(3, 12, "change", b"", data, 0))


PROGRESSES: dict[str, Kept] = {
    "progress.json": Kept(PROGRESS, msgspec.json.encode(PROGRESS), _progress),
    "cursor-fan-out.json": Kept(PLACES, msgspec.json.encode(PLACES), _lane_places),
    "cursor-fan-out-place.json": Kept(
        REACHED, msgspec.json.encode(REACHED), fanout._REACHED.decode
    ),
    "cursor-fan-out-without-lanes.json": Kept(
        {
            name: lanes.DONE if name.startswith("popular") else PLACES["feeds primary"]
            for name in PLACES
        },
        None,
        _lane_places,
    ),
    "cursor-BoardSecrecy.txt": Kept(0, None, board_tasks._pin_of),
    "cursor-BoardSecrecy-pin.txt": Kept(PIN, str(PIN).encode(), board_tasks._pin_of),
    "cursor-Respace.txt": Kept(
        Window(5, SEQUENCE, 1, -1), f"5 {SEQUENCE} 1 -1".encode(), respace_job._decoded
    ),
    "row-arrange.json": Kept(PLAN, msgspec.json.encode(PLAN), arrange._PLAN.decode),
    "row-hold.json": Kept(
        (ListKey(Mapping.BOARD_HAS_PINS, BOARD), ListKey(Mapping.USER_HAS_PINS, USER)),
        msgspec.json.encode(HELD),
        _lists,
    ),
    "queued-job.json": Kept(
        JOB, worker._serialize({"f": worker.TASK, "a": JOB, "k": {}, "t": 1}), _job
    ),
    "visit.json": Kept(CHUNK, msgspec.json.encode(CHUNK), _visit),
    "answer.json": Kept(SAVED, msgspec.json.encode(SAVED), _typed(Saved)),
    "fingerprints.json": Kept(
        _fingerprints(), msgspec.json.encode(_fingerprints()), _typed(dict[str, str])
    ),
}
