"""The schema as a subgraph of Apollo Federation 2: the plain schema, `_entities` and `_service`.

The subgraph is a second schema over the same types, which is made only if the setting `federation`
is on; so the plain schema and its introspection have nothing of it. Strawberry's own federation
needs `@key` on the types themselves, and resolves each representation alone. Here all keys are
added to the SDL as type extensions, and `_entities` is a resolver like all others: it loads a
type's objects in one batch, and its cost counts its representations.
"""

from typing import Annotated, Any

import strawberry
from strawberry.schema.config import StrawberryConfig

from resolvers import entities
from resolvers.context import Context
from schema import OBJECTS
from schema import schema as plain_schema
from schema.costs import listed
from schema.deferral import with_defer
from schema.fields import field, plain
from schema.mutation import Mutation
from schema.query import Query
from schema.subscription import Subscription
from schema.types import Board, Interest, Pin, Section, User

LINK = (
    'extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", '
    'import: ["@key", "@shareable"])'
)
SHARED = ("PageInfo",)
"""Types that another subgraph by Relay's conventions has too."""

Entity = Annotated[
    User | Board | Section | Pin | Interest,
    strawberry.union("_Entity", description="An object that other subgraphs extend."),
]


def sdl() -> str:
    """The subgraph's schema definition, without the fields that only routers use."""
    keys = [f'extend type {name} @key(fields: "id")' for name in entities.ENTITIES]
    shared = [f"extend type {name} @shareable" for name in SHARED]
    return "\n\n".join((plain_schema.as_str(), LINK, *keys, *shared)) + "\n"


def subgraph(*, tells_sdl: bool) -> strawberry.Schema:
    """The schema of a gateway in a federation. It has `_service`, which tells the whole schema, if
    `tells_sdl`."""
    text = sdl()

    async def service(context: Context) -> Any:
        return Service(sdl=text)

    @strawberry.type(name="Query", description="All reads.")
    class FederatedQuery(Query):
        entities: list[Entity | None] = field(
            entities.entities,
            "The objects that a router names by type and id, in the order of their names.",
            cost=listed(54, 8, entities.MOST, "representations"),
            cached=0,
            name="_entities",
        )

    query: type = FederatedQuery
    if tells_sdl:

        @strawberry.type(name="Query", description="All reads.")
        class TellingQuery(FederatedQuery):
            service_: Service = field(
                service, "The schema, for a router.", cached=0, name="_service"
            )

        query = TellingQuery
    any_ = strawberry.scalar(
        name="_Any",
        description="The type and the key of an object.",
        serialize=lambda value: value,
        parse_value=lambda value: value,
    )
    return with_defer(
        strawberry.Schema(
            query,
            Mutation,
            Subscription,
            types=OBJECTS,
            config=StrawberryConfig(
                info_class=strawberry.Info, scalar_map={entities.Representation: any_}
            ),
        )
    )


@strawberry.type(name="_Service", description="The schema of this subgraph.")
class Service:
    sdl: str = plain("The schema in the schema definition language.")
