"""Turns a request into a query of the engine. The engine's own query language is not used, so
nothing in a text is an operator."""

from collections.abc import Sequence

from tantivy import Occur, Query

from datasources.protocols import MOST_WORDS, SearchRequest, has_endings, typing_errors
from datasources.tantivy.fields import SCHEMA
from datasources.tantivy.words import stem, words

TITLE, STEM_OF_TITLE, STEM_OF_BODY = 3.0, 2.0, 1.0
NEARLY = 0.1
"""The score of a word with a typing error or another end. An exact match also has it, so it always
scores higher."""
OTHERS = 0.1  # the share of the other fields' scores


def query_of(request: SearchRequest) -> Query | None:
    """The query; None for a text without words."""
    asked = words(request.text)[:MOST_WORDS]
    if not asked:
        return None
    last = len(asked) - 1
    required = [
        (Occur.Must, _word(word, unfinished=request.prefix and place == last))
        for place, word in enumerate(asked)
    ]
    if request.kinds:
        kinds = one_of("kind", [int(kind) for kind in request.kinds])
        required.append((Occur.Must, Query.const_score_query(kinds, 0.0)))
    return Query.boolean_query(required)


def one_of(field: str, numbers: Sequence[int]) -> Query:
    """The query for documents whose field has one of the numbers."""
    return Query.term_set_query(SCHEMA, field, numbers)


def in_group(group: int, but: Sequence[int]) -> Query:
    """The query for the documents of a group without some of them."""
    parts = [(Occur.Must, one_of("group", [group]))]
    if but:
        parts.append((Occur.MustNot, one_of("id", but)))
    return Query.boolean_query(parts)


def _word(word: str, *, unfinished: bool) -> Query:
    root, endings = stem(word), has_endings(word)
    exact = [
        Query.boost_query(_term("title", word), TITLE),
        Query.boost_query(_term("stems", root), STEM_OF_TITLE),
        Query.boost_query(_term("body", root), STEM_OF_BODY),
    ]
    nearly = [_starting("title", word, typing_errors(word), prefix=unfinished or endings)]
    if endings:
        nearly.append(_starting("body", word, 0, prefix=True))
    others = [Query.const_score_query(each, NEARLY) for each in nearly]
    return Query.disjunction_max_query([*exact, *others], OTHERS)


def _starting(field: str, word: str, errors: int, *, prefix: bool) -> Query:
    """The query for words with typing errors, or with `prefix` words that begin so."""
    return Query.fuzzy_term_query(
        SCHEMA, field, word, errors, transposition_cost_one=True, prefix=prefix
    )


def _term(field: str, word: str) -> Query:
    return Query.term_query(SCHEMA, field, word, "freq")
