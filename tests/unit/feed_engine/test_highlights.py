"""Marks of words in texts."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from datasources.protocols import MOST_WORDS
from feed_engine.search.highlights import LONGEST, MOST_PARTS, Asked


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


def test_korean_words_are_marked_with_their_particles() -> None:
    assert marked("고양이 차", "고양이가 차를 좋아") == "[고양이가] [차를] 좋아"
    assert marked("고양이", "길고양이, 고양") is None
    assert marked("bts", "BTS의 BTS, 방탄BTS") == "[BTS]의 [BTS], 방탄[BTS]"
    assert marked("고양이들과", "고양이둘과는", forgiving=True) == "[고양이둘과는]"
    assert marked("고양이들과", "고양이둘과는") is None


def test_characters_of_unspaced_scripts_are_words() -> None:
    assert marked("京都", "東京都庭") == "東[京][都]庭"


@pytest.mark.parametrize("word", ["हिन्दी", "தமிழ்", "বাংলা", "كِتَابٌ", "שָׁלוֹם", "བོད་", "co\u00adop"])
def test_vowel_signs_and_points_stay_in_their_word(word: str) -> None:
    bare = word.strip("་")
    assert marked(bare, f"oak {word} elm") == f"oak [{bare}]{word[len(bare) :]} elm"


@pytest.mark.parametrize("before", [0, 30, 200, 990])
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
    ("asked", "written", "is_near"),
    [
        ("heron", "heorn", True),  # swapped
        ("heron", "hero", True),  # missing
        ("heron", "herons", True),  # inserted
        ("heron", "hexon", True),  # wrong
        ("heron", "hexox", False),
        ("kingfisher", "kingifsehr", True),
        ("kingfisher", "kixgxisxer", False),
    ],
)
def test_typing_errors_are_counted(asked: str, written: str, is_near: bool) -> None:
    for one, other in ((asked, written), (written, asked)):
        assert marked(one, other, forgiving=True) == (f"[{other}]" if is_near else None)


def test_only_the_words_that_are_searched_for_are_marked() -> None:
    words = [f"word{letter}" * 3 for letter in "abcdefghijklmnopqrst"]
    assert marked(" ".join(words), words[MOST_WORDS - 1]) is not None
    assert marked(" ".join(words), words[MOST_WORDS]) is None


@pytest.mark.parametrize("prefix", [False, True])
@pytest.mark.parametrize("forgiving", [False, True])
def test_a_mark_takes_a_few_steps_for_each_word_of_a_text(prefix: bool, forgiving: bool) -> None:
    """A text of nearly equal words, which are not near enough: each must be compared with each word
    of the search."""
    asked = Asked(" ".join(["abcdefgh"] * 22), roots, prefix=prefix)
    few, many = ["fedcbagh"] * 50, [f"fedcbag{n:03}" for n in range(500)]
    texts = [" ".join(["abcdefgh", *words]) for words in (few, many)]
    one, ten = (steps(lambda text=text: asked.parts(text, forgiving=forgiving)) for text in texts)
    assert one <= 4_000
    assert ten <= 10 * one


def steps(act: Callable[[], object]) -> int:
    """The lines of Python that run."""
    count = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(before)
    return count


def test_an_accent_belongs_to_its_word() -> None:
    assert marked("за́мок", "Старый За́мок, за") == "Старый [За́мок], за"
    assert marked("i\u0307zmir", "I\u0307zmir, i") == "[I\u0307zmir], i"
