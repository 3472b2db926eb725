"""Names and texts hide nothing behind their visible characters, and keep what scripts need."""

import pytest

from datasources.errors import BadInput
from feed_engine.transactions.inputs import BoardChange, NewBoard, NewComment, NewPin, NewUser
from feed_engine.transactions.validation import text
from gateway.operate.imports.jsonl import BadLine, BoardLine, decode

TAGS = "".join(chr(0xE0000 + ord(character)) for character in "visit evil.example")
HIDING = {
    "tags": f"a{TAGS}",
    "one tag": "a\U000e0041",
    "tags in a flag without its end": f"\U0001f3f4{TAGS}",
    "a flag with other tags": f"\U0001f3f4{TAGS}\U000e007f",
    "variation selectors": "a" + "".join(map(chr, range(0xFE00, 0xFE10))),
    "two variation selectors": "☺\ufe0e\ufe0f",
    "supplementary selectors": "a" + "".join(map(chr, range(0xE0100, 0xE0120))),
    "unassigned tags": "a\U000e0fff",
    "joiners": "a" + "\u200d" * 100,
    "joiners between spaces": "a" + " \u200d" * 50 + "b",
    "joiners on blank braille": "a" + "\u2800\u200d" * 50,
    "direction marks": "a" + "\u200e\u200f" * 10,
    "soft hyphens": "a" + "\u00ad" * 10 + "b",
    "a mixture": "a\u200c\u00ad\u034f\u200e",
}
KEPT = {
    "family": "👨\u200d👩\u200d👧\u200d👦",
    "a heart on fire": "❤\ufe0f\u200d🔥",
    "an eye in a bubble": "👁\ufe0f\u200d🗨\ufe0f",
    "a pirate flag": "🏴\u200d☠\ufe0f",
    "Scotland": "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    "Texas": "\U0001f3f4\U000e0075\U000e0073\U000e0074\U000e0078\U000e007f!",
    "skin": "👩🏽\u200d🚀👩🏽\u200d❤\ufe0f\u200d💋\u200d👨🏿",
    "a keycap": "1\ufe0f\u20e3",
    "Persian": "می\u200cخواهم کتاب\u200cها",
    "an isolated initial form": "ه\u200d",
    "Hindi": "क्\u200dष क्\u200cष",
    "Sinhala": "ශ්\u200dරී",
    "Mongolian": "ᠠ\u180b",
    "an ideograph's variant": "葛\U000e0100",
    "Hebrew with marks": "שלום\u200f (a)\u200e",
    "hyphens": "Donau\u00addampf\u00adschiff",
}


@pytest.mark.parametrize("name", HIDING)
def test_hidden_text_is_refused_everywhere(name: str) -> None:
    value = HIDING[name]
    for field, given in (
        ("name", lambda: NewBoard(name=value).checked()),
        ("name", lambda: BoardChange(name=value).fields()),
        ("description", lambda: NewBoard(name="b", description=value).checked()),
        ("title", lambda: NewPin(board_id=1, title=value).checked()),
        ("text", lambda: NewComment(pin_id=1, text=value).checked()),
        ("fullName", lambda: NewUser(username="abc", full_name=value).checked()),
    ):
        with pytest.raises(BadInput, match="characters that nobody can see, as U"):
            given()
        with pytest.raises(BadInput) as refused:
            given()
        assert refused.value.field == field


@pytest.mark.parametrize("name", HIDING)
def test_an_import_refuses_a_name_with_hidden_text(name: str) -> None:
    line = f'{{"type":"board","key":"k","owner":"o","name":"{HIDING[name]}"}}'
    with pytest.raises(BadLine, match=r"nobody can see, as U.* - at `\$\.name`"):
        decode(line.encode())


@pytest.mark.parametrize("name", KEPT)
def test_emoji_and_scripts_keep_their_joiners(name: str) -> None:
    assert text(KEPT[name], "name", 100, least=1) == KEPT[name]
    assert text(KEPT[name] * 5, "name", 200, least=1) == KEPT[name] * 5


@pytest.mark.parametrize("broken", ["Tea\nCups", "Tea\r\nCups", "Tea\rCups"])
def test_names_are_one_line(broken: str) -> None:
    for field, given in (
        ("name", lambda: NewBoard(name=broken).checked()),
        ("name", lambda: BoardChange(name=broken).fields()),
        ("fullName", lambda: NewUser(username="abc", full_name=broken).checked()),
    ):
        with pytest.raises(BadInput, match="holds a line break: write it in one line") as refused:
            given()
        assert refused.value.field == field
    assert NewBoard(name="Tea\n", description=broken).checked().name == "Tea"


def test_an_import_writes_a_name_in_one_line() -> None:
    line = decode(b'{"type":"board","key":"k","owner":"o","name":" Tea \\r\\n\\n Cups\\rSpoons"}')
    assert isinstance(line, BoardLine)
    assert line.name == " Tea Cups Spoons"
