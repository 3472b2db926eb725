"""Declares `@defer`, which strawberry declares only together with `@stream`."""

import strawberry
from graphql import GraphQLDeferDirective


def with_defer(schema: strawberry.Schema) -> strawberry.Schema:
    """Declare the directive in a schema. Returns the schema."""
    schema._schema.directives += (GraphQLDeferDirective,)
    return schema
