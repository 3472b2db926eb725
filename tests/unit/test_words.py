"""The lint of words finds openings and phrases that point at nothing, and leaves others alone."""

from pathlib import Path

import pytest

from tests.words import pointing, vague


@pytest.mark.parametrize(
    "text",
    [
        "Those in their order.",
        "What a pin is made of.",
        "Whoever asked has gone.",
        "As usual.",
        "Of the latencies.",
        "One that waited.",
        "All of it.",
        "It failed.",
        "Whether it answered.",
        "This is what follows.",
        "The same on one side.",
        "The same.",
    ],
)
def test_a_vague_opening_is_found(text: str) -> None:
    assert vague(f'def f():\n    """{text}"""\n') == [(2, text)]
    assert vague(f'"""{text}"""\n') == vague(f'"""{text}\n\nMore.\n"""\n') == [(1, text)]
    assert vague(f'LIMIT = 1\n"""{text}"""\n') == [(2, text)]


@pytest.mark.parametrize(
    "text",
    [
        "The pins of a board.",
        "Returns the pins.",
        "All pins.",
        "Each pin's place.",
        "One request's answer.",
        "This page in the list.",
        "Whether this pin trims the row.",
        "Ask the standby.",
        "Offers a pin.",
        "Items of a list.",
        "The same pin on both boards.",
    ],
)
def test_a_plain_opening_is_left_alone(text: str) -> None:
    assert vague(f'def f():\n    """{text}"""\n') == []


@pytest.mark.parametrize(
    "text",
    [
        "Answers as usual.",
        "Whoever asked has gone.",
        "Waits for ever.",
        "Made anew.",
        "It is no more.",
        "A job goes on where it was.",
        "The pins, those of a board first.",
        "The keys, and those that it had.",
        "The first one wins, the others are dropped.",
        "The order is that of the list.",
        "It holds what stands there.",
        "A row, or one that is gone.",
        "Do what is left.",
        "It ends, whatever becomes of the write.",
        "A call refused for want of budget.",
        "It looks ever more rarely.",
        "Read so many rows.",
        "The gateway hears of it.",
    ],
)
def test_a_phrase_that_points_at_nothing_is_found(tmp_path: Path, text: str) -> None:
    file = tmp_path / "file.py"
    for source in (f'"""{text}"""\n', f"x = 1  # {text}\n", f"# A\n# {text}\n", f"x = {text!r}\n"):
        file.write_text(source)
        assert len(pointing(file)) == 1, source
    page = tmp_path / "page.md"
    page.write_text(f"# Title\n\n{text}\n")
    assert len(pointing(page)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "It is no more than a page.",
        "The one that the client named.",
        "Those pins are gone.",
        "`for ever` is code.",
        "What a client may spend.",
        "There are so many that a page is short.",
    ],
)
def test_a_plain_phrase_is_left_alone(tmp_path: Path, text: str) -> None:
    file = tmp_path / "file.py"
    file.write_text(f'"""{text}"""\n')
    assert pointing(file) == []
