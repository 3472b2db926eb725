"""A name, a title or a comment has something that a reader sees; a user name has a letter or a
digit."""

import sys
import unicodedata

import pytest

from datasources.errors import BadInput
from feed_engine.transactions.inputs import (
    BoardChange,
    NewBoard,
    NewComment,
    NewPin,
    NewUser,
    PinChange,
)
from feed_engine.transactions.validation import free_username, is_visible, text

# Default_Ignorable_Code_Point of Unicode's DerivedCoreProperties.txt
IGNORABLE = [
    *(0xAD, 0x34F, 0x61C, *range(0x115F, 0x1161), *range(0x17B4, 0x17B6), *range(0x180B, 0x1810)),
    *(*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0x3164),
    *(*range(0xFE00, 0xFE10), 0xFEFF, 0xFFA0, *range(0xFFF0, 0xFFF9), *range(0x1BCA0, 0x1BCA4)),
    *(*range(0x1D173, 0x1D17B), *range(0xE0000, 0xE1000)),
]
INVISIBLE = ("Cc", "Cf", "Cn", "Co", "Cs", "Zs", "Zl", "Zp", "Mn", "Me", "Mc")


def test_no_ignorable_character_is_visible() -> None:
    assert [hex(code) for code in IGNORABLE if is_visible(chr(code))] == []


def test_every_category_is_visible_or_not_as_a_whole() -> None:
    blank = {0x2800, 0x1D159, *IGNORABLE}
    for code in range(sys.maxunicode + 1):
        if code not in blank:
            expected = unicodedata.category(chr(code)) not in INVISIBLE
            assert is_visible(chr(code)) is expected, hex(code)


@pytest.mark.parametrize(
    "value",
    [
        *("\u2800", "\u00ad", "\u200d", "\u200e", "\ufe0f", "\u034f", "\u17b4", "\U0001d159"),
        *("\u2800 \u00ad\u2800", "\u0301", "\u00ad\u0301", "\U000e0041", "\u0378", "\ue000"),
    ],
)
def test_invisible_text_is_refused_everywhere(value: str) -> None:
    for field, given in (
        ("name", lambda: NewBoard(name=value).checked()),
        ("name", lambda: BoardChange(name=value).fields()),
        ("description", lambda: NewBoard(name="b", description=value).checked()),
        ("title", lambda: NewPin(board_id=1, title=value).checked()),
        ("title", lambda: PinChange(title=value).fields()),
        ("text", lambda: NewComment(pin_id=1, text=value).checked()),
        ("fullName", lambda: NewUser(username="abc", full_name=value).checked()),
    ):
        with pytest.raises(BadInput) as refused:
            given()
        assert refused.value.field == field
        assert f"{field} holds" in refused.value.message


@pytest.mark.parametrize(
    "value",
    ["a", "7", "!", "…", "😀", "👩\u200d🚀", "e\u0301", "⠁", "한", "क्ष", "か\u3099", "\u00ada"],
)
def test_text_with_a_visible_character_is_kept(value: str) -> None:
    assert text(value, "name", 20, least=1)


@pytest.mark.parametrize("name", ["...", "___", "._.", "_____"])
def test_a_user_name_of_dots_and_underscores_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match="needs a letter or a digit"):
        free_username(name)


def test_a_user_name_with_a_letter_or_a_digit_is_taken() -> None:
    assert [free_username(name) for name in ("_a_", "..7", "A._")] == ["_a_", "..7", "a._"]
