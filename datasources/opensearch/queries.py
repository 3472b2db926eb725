"""Turns a request into a query. The engine's own query language is not used, so nothing in a text
is an operator. Scores are made as in `datasources/tantivy/queries.py`."""

from collections.abc import Sequence
from typing import Any

from datasources.opensearch.fields import LONGEST_START
from datasources.protocols import MOST_WORDS, SearchRequest, has_endings, typing_errors
from datasources.tantivy.queries import NEARLY, OTHERS, STEM_OF_BODY, STEM_OF_TITLE, TITLE
from datasources.tantivy.words import stem, words

Query = dict[str, Any]
NEAREST = 1_000
"""The words with typing errors for which one word stands. OpenSearch refuses more than 1,024, and a
word of seven letters has about 500 possible neighbours."""


def search_of(request: SearchRequest) -> Query | None:
    """The body of a search; None for a text without words."""
    asked = words(request.text)[:MOST_WORDS]
    if not asked:
        return None
    last = len(asked) - 1
    found: Query = {
        "must": [
            _word(word, unfinished=request.prefix and place == last)
            for place, word in enumerate(asked)
        ]
    }
    if request.kinds:
        found["filter"] = [{"terms": {"kind": [kind.name for kind in request.kinds]}}]
    weighted = {
        "query": {"bool": found},
        "field_value_factor": {"field": "weight"},
        "boost_mode": "multiply",
    }
    return {
        "query": {"function_score": weighted},
        "size": request.limit,
        "sort": [{"_score": "desc"}, {"key": "asc"}],
        "docvalue_fields": ["group"],
        "_source": False,
        "track_total_hits": False,
    }


def sizes_of(groups: Sequence[int], but: Sequence[int]) -> Query:
    """The body of a search that counts the documents of groups, without some of them."""
    found: Query = {"filter": [{"terms": {"group": [str(group) for group in groups]}}]}
    if but:
        found["must_not"] = [{"terms": {"key": [str(id) for id in but]}}]
    return {
        "query": {"bool": found},
        "aggs": {"groups": {"terms": {"field": "group", "size": len(groups)}}},
        "size": 0,
        "track_total_hits": False,
    }


def on_boards(boards: Sequence[int], but: Sequence[int], size: int) -> Query:
    """The body of a search for documents on boards, without some of them."""
    found: Query = {"filter": [{"terms": {"board": [str(board) for board in boards]}}]}
    if but:
        found["must_not"] = [{"terms": {"key": [str(id) for id in but]}}]
    return {"query": {"bool": found}, "size": size, "_source": False, "track_total_hits": False}


def _word(word: str, *, unfinished: bool) -> Query:
    root, endings = stem(word), has_endings(word)
    exact = [
        _term("title", word, TITLE),
        _term("stems", root, STEM_OF_TITLE),
        _term("body", root, STEM_OF_BODY),
    ]
    nearly = [_nearly(word, prefix=unfinished or endings)]
    if endings:
        nearly.append({"prefix": {"body": {"value": word}}})
    others = [{"constant_score": {"filter": each, "boost": NEARLY}} for each in nearly]
    return {"dis_max": {"queries": [*exact, *others], "tie_breaker": OTHERS}}


def _nearly(word: str, *, prefix: bool) -> Query:
    """The query for a title's words that differ by typing errors, also at their beginnings."""
    errors = typing_errors(word)
    if not prefix:
        return _fuzzy("title", word, errors)
    if len(word) + errors <= LONGEST_START:
        return _fuzzy("starts", word, errors)
    return {"prefix": {"title": {"value": word}}}


def _fuzzy(field: str, word: str, errors: int) -> Query:
    if not errors:
        return _term(field, word, 1.0)
    # The engine takes the nearest 50 words unless a rewriting says more. With `constant_score` it
    # takes all, but builds its automaton of the word once for each segment of the index.
    given = {"value": word, "fuzziness": errors, "rewrite": f"top_terms_boost_{NEAREST}"}
    return {"fuzzy": {field: given | {"transpositions": True}}}


def _term(field: str, word: str, boost: float) -> Query:
    return {"term": {field: {"value": word, "boost": boost}}}
