"""Marks of words in texts."""

import pytest

from feed_engine.search.highlights import LONGEST, MOST_PARTS, Asked, distance


def roots(words: list[str]) -> list[frozenset[str]]:
    """A stand-in for an engine's forms: lower case, and without a plural's s."""
    return [frozenset({word.lower(), word.lower().rstrip("s")}) for word in words]


def marked(asked: str, text: str, *, prefix: bool = False, **rest: bool) -> str | None:
    parts = Asked(asked, roots, prefix=prefix).parts(text, **{"forgiving": False, **rest})
    if parts is None:
        return None
    return "".join(f"[{part.text}]" if part.matched else part.text for part in parts)


def test_words_are_marked_by_their_forms() -> None:
    assert marked("oak leaf", "Oaks, and a LEAF.") == "[Oaks], and a [LEAF]."
    assert marked("oak", "maple") is None
    assert marked("oak", "soak") is None


def test_the_last_word_may_be_unfinished() -> None:
    assert marked("mount la", "Mountain lake", prefix=True) == "Mountain [lake]"
    assert marked("la", "Mountain lake") is None


def test_typing_errors_are_forgiven_where_the_index_forgives_them() -> None:
    assert marked("moutnain", "Mountain", forgiving=True) == "[Mountain]"
    assert marked("moutnain", "Mountain") is None
    assert marked("car", "Cat", forgiving=True) is None
    assert marked("2024", "2025", forgiving=True) is None
    assert marked("moutn", "Mountain", prefix=True, forgiving=True) == "[Mountain]"


def test_characters_of_unspaced_scripts_are_words() -> None:
    assert marked("京都", "東京都庭") == "東[京][都]庭"


@pytest.mark.parametrize("before", [0, 30, 200, 1_000])
def test_a_long_text_is_shortened_around_its_first_match(before: int) -> None:
    text = "word " * (before // 5) + "oak " + "tail " * 100
    found = marked("oak", text)
    assert found is not None
    assert "[oak]" in found
    assert len(found) <= LONGEST + 4
    assert found.endswith("…")
    assert found.startswith("…") is (before > 30)
    assert marked("oak", text, whole=True) == text.replace("oak", "[oak]")


def test_a_long_text_without_spaces_is_shortened() -> None:
    parts = Asked("庭", roots).parts("山" * 500 + "庭" + "山" * 500, forgiving=False)
    assert parts is not None
    assert sum(len(part.text) for part in parts) <= LONGEST + 2


def test_the_pieces_are_bounded() -> None:
    parts = Asked("a", roots).parts("a " * 70, forgiving=False)
    assert parts is not None
    assert len(parts) <= MOST_PARTS
    assert "".join(part.text for part in parts) == "a " * 70


def test_pieces_make_up_the_text_and_text_stays_text() -> None:
    text = "<b>oak</b> & \u202e oak"
    parts = Asked("oak", roots).parts(text, forgiving=True)
    assert parts is not None
    assert "".join(part.text for part in parts) == text


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [("", "", 0), ("abc", "abc", 0), ("abc", "acb", 1), ("abc", "ab", 1), ("abcd", "badc", 2)],
)
def test_distances(one: str, other: str, expected: int) -> None:
    assert distance(one, other, 2) == expected
    assert distance(other, one, 2) == expected
    assert distance("abcdef", "uvwxyz", 2) == 3
