"""The lint of words: texts name their subjects, and avoid phrases that point at nothing.

A docstring such as "Those in their order." means something to its author alone. A docstring opens
with a noun ("The pins of a board") or a verb ("Returns", "Record"). Docstrings, comments, messages
and pages avoid the phrases below. The lists say which openings and phrases are refused, and which
files are not yet rewritten.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = (
    *("gateway", "schema", "resolvers", "loaders", "feed_engine", "datasources"),
    *("deploy", "tests", "bench"),
)
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
       | the \s+ same (?= [.,:;] | \s+ (?:{_PREPOSITIONS}|unless)\b )
       | whether \s+ (?: one|it|they|that|there (?!\s+(?:is|are)\b) ) ) \b""",
    re.VERBOSE | re.IGNORECASE,
)


PHRASE = re.compile(
    r"""\b(?: as\ usual | who(?:so)?ever | whomever | in\ vain | for\ ever | anew | once\ more
       | no\ more (?= [.,:;] | $)
       | go(?:es|ing)? \s on \s (?:with|from|where|in)
       | those (?= [.,:;] | \s (?:who|whom|whose|that|which|of|with|in|on|at|for|from|to|it|not
                                  |there|known)\b )
       | the\ others \s (?:is|are|was|were|has|have|can|may|must|do|does)
       | that\ of
       | what \s (?:hangs|stands|lies|came|comes | is \s (?:left|there|owed|due|wanted|asked))
       | what(?:ever)? \s becomes? \s of | for \s want \s of | ever \s more
       | so \s (?:many|few) (?! \s that) | (?:hears?|heard|tells?) \s of
       | (?<!the\s) (?<!find\s) one \s (?:that|which|who|whose|whom) ) \b""",
    re.VERBOSE | re.IGNORECASE,
)
"""Phrases without a noun, and old-fashioned words: "forever" and "again" are plainer."""

PLAIN_NOT_YET = ("tests/unit/test_words.py",)
"""This file alone has such phrases, because it names them."""


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


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Each docstring, comment and other text of a Python file, and each paragraph of a page, with
    its line. Quoted code is left out."""
    source = path.read_text()
    if path.suffix == ".md":
        found = [(1 + source[: m.start()].count("\n"), m[0]) for m in _PARAGRAPH.finditer(source)]
    else:
        found = [
            (node.lineno, node.value)
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        found += _comments(source)
    for line, text in found:
        yield line, re.sub(r"`[^`]*`", "`code`", " ".join(text.split()))


def _comments(source: str) -> Iterator[tuple[int, str]]:
    """Each comment; comments on lines of their own that follow each other are one text."""
    block: list[tuple[int, str]] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, text = token.start[0], token.string.lstrip("# ")
            alone = not token.line[: token.start[1]].strip()
            if not block or not alone or row != block[-1][0] + 1:
                if block:
                    yield block[0][0], " ".join(text for _, text in block)
                block = []
            block.append((row, text))
    if block:
        yield block[0][0], " ".join(text for _, text in block)


_PARAGRAPH = re.compile(r"(?:.+(?:\n|$))+")


def pages() -> Iterator[Path]:
    """The pages that users and contributors read."""
    yield from ROOT.glob("*.md")
    for folder in ("docs", "bench", "deploy"):
        found = sorted((ROOT / folder).rglob("*.md"))
        yield from (path for path in found if "node_modules" not in path.parts)


def pointing(path: Path) -> list[str]:
    """The texts of a file that have a refused phrase: line, phrase and text."""
    return [
        f"{line}: [{match[0]}] {text[max(0, match.start() - 60) : match.end() + 60]}"
        for line, text in texts(path)
        if (match := PHRASE.search(text))
    ]


def sources() -> Iterator[Path]:
    """The Python files of the project's own folders."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "node_modules" not in path.parts:
                yield path


def test_a_docstring_opens_with_its_subject() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for path in sources()
        for line, text in vague(path.read_text())
    ]
    assert not found, "start with a noun or a verb, and name the thing:\n" + "\n".join(found)


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


@pytest.mark.parametrize("kind", ["Python files", "pages"])
def test_texts_avoid_phrases_that_point_at_nothing(kind: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{hit}"
        for path in (sources() if kind == "Python files" else pages())
        if not path.relative_to(ROOT).as_posix().startswith(PLAIN_NOT_YET)
        and "NOTICES" not in path.name
        for hit in pointing(path)
    ]
    assert not found, "name the thing again:\n" + "\n".join(found)


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
