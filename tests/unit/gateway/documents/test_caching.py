"""How long shared caches may keep an answer: the minimum of the hints of the selected fields."""

import pytest
from graphql import OperationDefinitionNode, parse, validate

from gateway.documents.caching import Caching
from schema import schema
from schema.caching import SECONDS, TOPIC_SECONDS

CACHING = Caching(schema._schema)


def max_age(text: str) -> int:
    document = parse(text)
    assert validate(schema._schema, document) == []
    [operation] = [d for d in document.definitions if isinstance(d, OperationDefinitionNode)]
    return CACHING.max_age(document, operation)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("{ interests(first: 5) { edges { cursor node { id name } } } }", TOPIC_SECONDS),
        ("{ interests { pageInfo { endCursor } } }", TOPIC_SECONDS),
        ("{ interests { edges { node { pins { edges { node { title } } } } } } }", SECONDS),
        ('{ board(id: "1") { name owner { username avatar { url } } } }', SECONDS),
        ('{ node(id: "1") { id } }', SECONDS),
        ('{ node(id: "1") { id ... on Interest { name } } }', SECONDS),
        ('{ __typename interests { __typename } user(username: "a") { id } }', SECONDS),
        ("{ ...F } fragment F on Query { interests { edges { node { id } } } }", TOPIC_SECONDS),
    ],
)
def test_the_smallest_hint_counts(text: str, seconds: int) -> None:
    assert max_age(text) == seconds


@pytest.mark.parametrize(
    "text",
    [
        "{ __typename }",
        "{ __schema { queryType { name } } }",
        "{ viewer { id } }",
        "{ interests { edges { node { id viewerFollows } } } }",
        '{ board(id: "1") { name viewerCanEdit } }',
        "{ homeFeed { edges { node { id } } } }",
        "{ followingFeed { edges { cursor } } }",
        '{ node(id: "1") { id ... on Pin { viewerHasLiked } } }',
        '{ node(id: "1") { ...P } } fragment P on Pin { board { viewerFollows } }',
        "query ($no: Boolean!) { interests { edges { cursor } } viewer @include(if: $no) { id } }",
        "{ interests { edges { cursor } } viewer @skip(if: true) { id } }",
        'mutation { signUp(input: {username: "a"}) { user { id } } }',
    ],
)
def test_a_viewers_field_a_field_without_a_hint_and_a_mutation_are_never_kept(text: str) -> None:
    assert max_age(text) == 0


def test_fragments_that_are_spread_very_often_are_read_once() -> None:
    spreads = "\n".join(
        f"fragment F{n} on Interest {{ ...F{n + 1} ...F{n + 1} }}" for n in range(60)
    )
    text = (
        "{ interests { edges { node { ...F0 } } } } fragment F60 on Interest { name }\n" + spreads
    )
    document = parse(text)
    [operation] = [d for d in document.definitions if isinstance(d, OperationDefinitionNode)]
    assert CACHING.max_age(document, operation) == TOPIC_SECONDS
