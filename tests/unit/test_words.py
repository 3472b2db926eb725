"""The lint of words: a docstring opens with its subject, not with a pronoun that points at nothing.

"Those in their order." means something to its author alone. A docstring opens with a noun ("The
pins of a board") or a verb ("Returns", "Record"). The lists below say which openings are refused,
and which files are not yet rewritten.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = (
    *("gateway", "schema", "resolvers", "loaders", "feed_engine", "datasources"),
    *("deploy", "tests", "bench"),
)
NOT_YET = (
    "gateway/execution",
    "loaders",
)
"""Folders and files that still have such openings. The list may only become shorter."""

_PRONOUNS = "those|these|that|it|its|they|them|their|theirs|he|she|his|her"
_QUESTIONS = "who|whom|whose|whoever|whomever|what|whatever|which|whichever"
_CONNECTIVES = "as|of|such|so|thus|besides|also|else|then|here|not|nor|there"
_QUANTITIES = "one|ones|other|others|another|some|any|all|both|each|either|neither"
_VERBS = "is|are|was|were|has|have|can|may|must"
_PREPOSITIONS = "that|of|which|who|whose|with|for|in|on|at|by|from|to|as|and|than|there"
OPENING = re.compile(
    rf"""(?: {_PRONOUNS} | {_QUESTIONS} | {_CONNECTIVES}
       | (?:{_QUANTITIES}) (?= [.,:;] | \s+ (?:{_VERBS}|{_PREPOSITIONS})\b )
       | this (?= [.,:;] | \s+ (?:{_VERBS})\b )
       | whether \s+ (?: one|it|they|that|there (?!\s+(?:is|are)\b) ) ) \b""",
    re.VERBOSE | re.IGNORECASE,
)


def docstrings(source: str) -> Iterator[tuple[int, str]]:
    """Each docstring of a module with its line: of modules, classes, functions and attributes."""
    for node in ast.walk(ast.parse(source)):
        for statement in node.body if isinstance(node, ast.Module | _NAMED) else ():
            match statement:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    yield statement.lineno, text.strip()


_NAMED = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def vague(source: str) -> list[tuple[int, str]]:
    """The docstrings whose opening is refused: line and first line of text."""
    return [(n, text.split("\n")[0]) for n, text in docstrings(source) if OPENING.match(text)]


def sources() -> Iterator[Path]:
    """The Python files of the project's own folders."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "node_modules" not in path.parts:
                yield path


def excused(path: Path) -> bool:
    return path.relative_to(ROOT).as_posix().startswith(NOT_YET)


def test_a_docstring_opens_with_its_subject() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for path in sources()
        if not excused(path)
        for line, text in vague(path.read_text())
    ]
    assert not found, "start with a noun or a verb, and name the thing:\n" + "\n".join(found)


@pytest.mark.parametrize("place", NOT_YET)
def test_a_place_that_was_rewritten_leaves_the_list(place: str) -> None:
    paths = [path for path in sources() if path.relative_to(ROOT).as_posix().startswith(place)]
    assert any(vague(path.read_text()) for path in paths), f"{place} is done: remove it"


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
    ],
)
def test_a_plain_opening_is_left_alone(text: str) -> None:
    assert vague(f'def f():\n    """{text}"""\n') == []
