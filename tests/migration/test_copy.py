"""`pinway migrate copy`: every row arrives once or is reported, also when the copy is killed."""

import json
import random
from pathlib import Path
from typing import Any

from tests.importing.worlds import canonical_set
from tests.migration.old_world import HUGE, ROWS, OldDatabase, many
from tests.migration.processes import copied, exported, killed_at, pinway
from tests.scale import scaled, seed

KILLS = scaled(2, 8)


def reports(told: dict[str, Any]) -> dict[str, list[tuple[bool, str]]]:
    """Table and row → whether it was left out, and why."""
    found: dict[str, list[tuple[bool, str]]] = {}
    for line in Path(told["report"]).read_text().splitlines():
        fault = json.loads(line)
        where = f"{fault['table']} {fault['row']}"
        found.setdefault(where, []).append((fault["left_out"], fault["message"]))
    return found


def test_every_row_arrives_or_is_reported(old: OldDatabase, tmp_path: Path) -> None:
    old.run("USE old", *ROWS, "INSERT INTO members VALUES (9, 'ANN.', NULL, NULL, NULL)")
    file, data = old.mapping(tmp_path), tmp_path / "data"
    told = copied(file, data)
    found = reports(told)
    left_out = {where for where, faults in found.items() if any(out for out, _ in faults)}
    assert left_out == {
        "members 3",  # no user name
        "albums 3",  # a NULL in a required field
        "albums 4",  # its owner is missing
        "bookmarks 4",  # its board is missing
        "remarks 00000001",  # an empty text
        "likes 1, 4",
        "likes 3, 1",
        "friends 1, 1",
        "friends 1, 3",
    }
    assert told["left_out"] == len(left_out)
    assert told["rows"] - len(left_out) == sum(told["loaded"].values()) == len(exported(data))
    assert [message for _, message in found["bookmarks 4"]] == ["there is no board '99'"]


def test_a_second_copy_changes_nothing_and_reads_new_rows(old: OldDatabase, tmp_path: Path) -> None:
    old.run("USE old", *ROWS)
    file, data = old.mapping(tmp_path), tmp_path / "data"
    first = copied(file, data)
    before = exported(data)
    again = copied(file, data)
    assert (again["new"], again["rows"], exported(data)) == ({}, first["rows"], before)
    old.run(f"INSERT INTO old.albums VALUES ({HUGE}, 1, 'Later', 1, 1)")
    later = copied(file, data)
    assert (later["new"], len(exported(data))) == ({"board": 1}, len(before) + 1)
    Path(later["report"]).with_name("journal.sqlite").unlink()
    assert copied(file, data)["new"] == {}  # without its journal, all is read and recognized


def test_old_ids_lead_to_new_ids(old: OldDatabase, tmp_path: Path) -> None:
    old.run("USE old", *ROWS)
    file, data = old.mapping(tmp_path), tmp_path / "data"
    copied(file, data)
    words = ("migrate", "find", str(file), "pin", "1", str(HUGE), "4", "--json")
    found = json.loads(pinway(*words, data=data))
    assert found["4"] is None
    assert len({found["1"], found[str(HUGE)]} - {None}) == 2


def test_another_mapping_does_not_go_on_with_a_journal(old: OldDatabase, tmp_path: Path) -> None:
    old.run("USE old", *ROWS)
    data = tmp_path / "data"
    copied(old.mapping(tmp_path), data)
    file = old.mapping(tmp_path, changed={"      about: bio\n": ""})
    assert "has changed since the copy" in pinway("migrate", "copy", str(file), data=data, status=1)


def test_a_copy_that_is_killed_again_and_again_ends_like_one_that_was_not(
    old: OldDatabase, tmp_path: Path
) -> None:
    old.run("USE old", *ROWS, *many(members=60, albums=100, bookmarks=scaled(2000, 6000)))
    file = old.mapping(tmp_path)
    seams = killed_at(0, file, tmp_path / "whole")
    assert seams > 100
    chosen = sorted(random.Random(seed("migration")).sample(range(1, seams), KILLS))
    ended = [killed_at(last, file, tmp_path / "killed") for last in chosen]
    assert ended[0] == 0  # later ones may have fewer seams
    whole = copied(file, tmp_path / "whole")
    told = copied(file, tmp_path / "killed")
    assert (told["rows"], told["loaded"]) == (whole["rows"], whole["loaded"])
    assert reports(told) == reports(whole)
    lines = exported(tmp_path / "killed")
    assert len(lines) == sum(told["loaded"].values())
    assert canonical_set(b"\n".join(lines)) == canonical_set(
        b"\n".join(exported(tmp_path / "whole"))
    )
