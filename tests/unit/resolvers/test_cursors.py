"""Cursors are opaque: they reveal nothing about their place, and no other party can make them."""

import random
from base64 import urlsafe_b64decode

import pytest

from datasources.errors import BadInput
from datasources.ids import Kind, compose
from datasources.mappings import ListKey, Mapping
from resolvers.cursors import CursorKind, CursorPlace, Cursors

CURSORS = Cursors(b"a secret")
PLACES = [
    (0, 0, 0),
    (1, 1, 1),
    (10**38 - 1, 2**64 - 1, 2**32 - 1),
    (1_700_000_000_000 * 10**25, 2**60 + 999, 3),
]


@pytest.mark.parametrize(("sequence", "id", "era"), PLACES)
@pytest.mark.parametrize("kind", CursorKind)
def test_a_cursor_is_read_as_it_was_written(
    kind: CursorKind, sequence: int, id: int, era: int
) -> None:
    cursor = CURSORS.encode(kind, id, sequence, era)
    assert CURSORS.decode(kind, cursor) == CursorPlace(sequence, id, era)
    assert CURSORS.encode(kind, id, sequence, era) == cursor


def test_every_changed_bit_is_refused() -> None:
    cursor = CURSORS.encode(CursorKind.LIST, 2**60 + 999, 10**37, 2)
    for at in range(len(cursor)):
        for letter in "ABgw_-9":
            changed = cursor[:at] + letter + cursor[at + 1 :]
            if changed != cursor:
                with pytest.raises(BadInput):
                    CURSORS.decode(CursorKind.LIST, changed)


def test_a_cursor_is_refused_by_another_secret_and_another_kind() -> None:
    cursor = CURSORS.encode(CursorKind.LIST, 7, 8)
    with pytest.raises(BadInput):
        Cursors(b"another").decode(CursorKind.LIST, cursor)
    with pytest.raises(BadInput):
        CURSORS.decode(CursorKind.OBJECTS, cursor)


def test_a_cursor_of_a_list_is_refused_by_every_other_list() -> None:
    pins = ListKey(Mapping.BOARD_HAS_PINS, 2**60 + 5)
    cursor = CURSORS.of(pins).encode(CursorKind.LIST, 7, 8, 9)
    assert len(cursor) == len(CURSORS.encode(CursorKind.LIST, 7, 8, 9))
    assert CURSORS.of(pins).decode(CursorKind.LIST, cursor) == CursorPlace(8, 7, 9)
    others = [
        CURSORS,
        CURSORS.of(pins._replace(from_id=6)),
        CURSORS.of(pins._replace(mapping=Mapping.SECTION_HAS_PINS)),
        Cursors(b"another").of(pins),
    ]
    for other in others:
        with pytest.raises(BadInput, match="not a cursor of this list"):
            other.decode(CursorKind.LIST, cursor)


def test_a_cursor_of_an_earlier_version_names_no_list_and_is_accepted() -> None:
    old = CURSORS.encode(CursorKind.LIST, 7, 8, 9)
    for mapping in (Mapping.BOARD_HAS_PINS, Mapping.PIN_HAS_COMMENTS):
        of_list = CURSORS.of(ListKey(mapping, 5))
        assert of_list.decode(CursorKind.LIST, old) == CursorPlace(8, 7, 9)
        with pytest.raises(BadInput):
            of_list.decode(CursorKind.SORTED, old)


def test_the_public_part_of_a_list_has_the_cursors_of_the_list() -> None:
    for whole, part in (
        (Mapping.USER_HAS_PINS, Mapping.USER_HAS_PUBLIC_PINS),
        (Mapping.USER_HAS_BOARDS, Mapping.USER_HAS_PUBLIC_BOARDS),
    ):
        of_whole, of_part = (CURSORS.of(ListKey(mapping, 5)) for mapping in (whole, part))
        cursor = of_whole.encode(CursorKind.LIST, 7, 8)
        assert of_part.encode(CursorKind.LIST, 7, 8) == cursor


def test_a_cursor_of_all_objects_of_a_kind_is_refused_for_another_kind() -> None:
    pin = compose(3, Kind.PIN, 9)
    cursor = CURSORS.encode(CursorKind.OBJECTS, pin)
    assert CURSORS.decode_object(Kind.PIN, cursor) == pin
    with pytest.raises(BadInput, match="not a cursor of this list"):
        CURSORS.decode_object(Kind.BOARD, cursor)
    with pytest.raises(BadInput):
        CURSORS.decode_object(Kind.PIN, CURSORS.encode(CursorKind.OBJECTS, 2**64 - 1))


@pytest.mark.parametrize("text", ["", "x", "é" * 50, "A" * 50, "!" * 50, "A" * 49, "A" * 51])
def test_what_is_no_cursor_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="pass the endCursor"):
        CURSORS.decode(CursorKind.LIST, text)


def test_neighboring_places_have_nothing_in_common() -> None:
    drawing = random.Random(1)
    ids = [drawing.getrandbits(60) for _ in range(200)]
    texts = [urlsafe_b64decode(CURSORS.encode(CursorKind.OBJECTS, id) + "==") for id in ids]
    for id, text in zip(ids, texts, strict=True):
        assert id.to_bytes(8) not in text
        assert str(id).encode() not in text
    assert len({text[8:] for text in texts}) == len(texts)
    assert len({text[20:24] for text in texts}) == len(texts)  # the sequence is 0 in all of them
