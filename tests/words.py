"""`python -m tests.words`: texts name their subjects, and avoid phrases that point at nothing.

A docstring such as "Those in their order." means something to its author alone. A docstring opens
with a noun ("The pins of a board") or a verb ("Returns", "Record"). Docstrings, comments, messages
and pages avoid the phrases below. The lists say which openings and phrases are refused, and which
files are not yet rewritten.
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = (
    *("gateway", "schema", "resolvers", "loaders", "feed_engine", "datasources"),
    *("deploy", "pinway", "tests", "bench", "checkout"),
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

PLAIN_NOT_YET = ("tests/words.py", "tests/unit/test_words.py")
"""The files that have such phrases, because they name them."""


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


def faults() -> list[str]:
    """Each refused opening and phrase in the project's files, and what would be right."""
    files = list(sources())
    vague_openings = [
        f"{path.relative_to(ROOT)}:{line}: start with a noun or a verb, and name the thing: {text}"
        for path in files
        for line, text in vague(path.read_text())
    ]
    phrases = [
        f"{path.relative_to(ROOT)}:{hit} (name the thing again)"
        for path in (*files, *pages())
        if not path.relative_to(ROOT).as_posix().startswith(PLAIN_NOT_YET)
        and "NOTICES" not in path.name
        for hit in pointing(path)
    ]
    return [*vague_openings, *phrases]


def main() -> int:
    found = faults()
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
