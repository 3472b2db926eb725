"""docs/import.md says what the format is: every field, and an example that can be imported."""

import re
from pathlib import Path

import msgspec
import pytest

from gateway.operate.imports import jsonl
from gateway.operate.imports.jsonl import decode

DOCS = (Path(__file__).parents[5] / "docs" / "import.md").read_text()
LINES = {
    "user": jsonl.UserLine,
    "board": jsonl.BoardLine,
    "section": jsonl.SectionLine,
    "pin": jsonl.PinLine,
    "interest": jsonl.InterestLine,
    "follow": jsonl.FollowLine,
    "like": jsonl.LikeLine,
    "comment": jsonl.CommentLine,
    "block": jsonl.BlockLine,
    "mute": jsonl.MuteLine,
    "hide": jsonl.HideLine,
    "preference": jsonl.PreferenceLine,
}


def section(heading: str) -> str:
    """The text below a heading, up to the next heading."""
    return re.split(r"\n#+ ", DOCS.split(f"\n### {heading}\n")[1])[0]


def documented(text: str) -> set[str]:
    """The names in the first column of a section's table."""
    cells = re.findall(r"^\| (`[^|]*) \|", text, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


@pytest.mark.parametrize("name", LINES)
def test_a_types_table_names_its_fields_and_no_others(name: str) -> None:
    fields = {field.encode_name for field in msgspec.structs.fields(LINES[name])}
    assert documented(section(f"`{name}`")) == fields - {"created"}


def test_the_tables_of_images_and_of_all_lines_are_whole() -> None:
    fields = {field.encode_name for field in msgspec.structs.fields(jsonl.ImageField)}
    assert documented(section("Image")) == fields
    assert "| `created` |" in DOCS


def test_the_example_has_every_type_and_can_be_imported() -> None:
    lines = [decode(line.strip().encode()) for line in section("Example").strip().splitlines()]
    assert {type(line) for line in lines} == set(LINES.values())
