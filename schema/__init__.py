"""The GraphQL schema: strawberry types over plain resolvers, and its printed snapshot."""

import strawberry
from strawberry.schema.config import StrawberryConfig

from schema.deferral import with_defer
from schema.mutation import Mutation
from schema.nodes import RecordType
from schema.query import Query
from schema.subscription import Subscription

OBJECTS = RecordType.__subclasses__()
"""The types of all objects with a global id."""

schema = with_defer(
    strawberry.Schema(
        Query,
        Mutation,
        Subscription,
        types=OBJECTS,
        config=StrawberryConfig(info_class=strawberry.Info),
    )
)
