"""This version reads the payloads of older versions, which a rolling upgrade finds in its stores.

Each folder beside this file has the payloads of one version. A payload is never changed. When this
version writes a payload in another form, a folder for its number is added: `python -m
tests.unit.versions.test_older_versions VERSION` writes one.
"""

import sys
from pathlib import Path

import pytest

from feed_engine.outbox.change import AnyTask
from feed_engine.transactions.inputs import Input
from tests.unit.versions.cells import CELLS
from tests.unit.versions.progress import INPUTS, PROGRESSES
from tests.unit.versions.values import VALUES

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("v*/*.*"))
KEPT = {**VALUES, **PROGRESSES, **CELLS}
WRITTEN = {name: kept.written for name, kept in KEPT.items() if kept.written is not None}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_payload_of_an_older_version_is_read(path: Path) -> None:
    kept = KEPT[path.name]
    assert kept.read(path.read_bytes()) == kept.value


@pytest.mark.parametrize("name", WRITTEN)
def test_the_newest_folder_has_what_this_version_writes(name: str) -> None:
    newest = max((path for path in HERE.glob("v*") if path.is_dir()), key=lambda path: path.name)
    found = (newest / name).read_bytes()
    assert found == WRITTEN[name], "another form: keep this version's in a folder of its own"


def test_every_task_has_a_payload() -> None:
    tasks = {f"task-{task.__name__}.json" for task in AnyTask.__args__}
    assert tasks <= KEPT.keys()


def test_every_form_has_a_payload() -> None:
    assert {path.name for path in FILES} == KEPT.keys()


def test_every_input_has_a_fingerprint() -> None:
    """Inputs of edits are inside a Target. The inputs of profiles, accounts, keys, events,
    notifications, reports, sections and members came after that version."""
    changes = {"BoardChange", "PinChange", "ProfileChange", "NameChange", "Deletion", "Events"}
    changes |= {"Notifications", "NewReport", "EmailChange", "SubjectChange", "Member"}
    changes |= {"NewSection", "SectionName", "ReorderSection", "MoveToSection"}
    kept = {type(given).__name__ for given in INPUTS.values()} | changes
    assert kept == {input.__name__ for input in Input.__subclasses__()}


def main(version: str) -> None:
    folder = HERE / f"v{version}"
    folder.mkdir()
    for name, written in WRITTEN.items():
        (folder / name).write_bytes(written)


if __name__ == "__main__":
    main(sys.argv[1])
