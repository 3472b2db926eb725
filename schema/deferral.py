"""Declares `@defer` and `@stream`."""

import strawberry
from graphql import GraphQLDeferDirective, GraphQLStreamDirective


def with_defer(schema: strawberry.Schema) -> strawberry.Schema:
    """Declare the directives in a schema. Returns the schema."""
    schema._schema.directives += (GraphQLDeferDirective, GraphQLStreamDirective)
    return schema
