"""The changes between an older schema and this one, and their effect on clients."""

from typing import NamedTuple

from graphql import GraphQLError, build_schema
from graphql.utilities import find_breaking_changes, find_dangerous_changes

from datasources.errors import BadInput


class Changes(NamedTuple):
    """The changes. Breaking changes make valid operations invalid. Dangerous changes may surprise a
    client: a new value of an enum, a new default."""

    breaking: list[str]
    dangerous: list[str]


def changes(old: str, new: str) -> Changes:
    """The changes from one schema to another, both in GraphQL's schema language. Raises BadInput
    when the old text is not a schema."""
    try:
        before = build_schema(old)
    except (GraphQLError, TypeError) as error:
        raise BadInput(f"the old schema can't be read: {error}") from None
    after = build_schema(new)
    return Changes(
        [change.description for change in find_breaking_changes(before, after)],
        [change.description for change in find_dangerous_changes(before, after)],
    )
