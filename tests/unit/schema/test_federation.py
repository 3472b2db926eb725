"""The subgraph: the plain schema with keys, and nothing of it in the plain schema."""

from graphql import build_schema, parse
from graphql.utilities import find_breaking_changes

from gateway.settings import Http, Settings
from gateway.site.executors import new_executor
from resolvers.entities import ENTITIES
from schema import schema
from schema.federation import sdl, subgraph

ROUTERS = ("_entities", "_service", "_Any", "_Entity", "_Service", "@key", "@link")


def test_the_plain_schema_has_nothing_of_a_federation() -> None:
    assert [name for name in ROUTERS if name in schema.as_str()] == []


def test_a_subgraph_adds_fields_for_routers_and_changes_nothing_else() -> None:
    plain = build_schema(schema.as_str())
    for tells_sdl in (True, False):
        extended = build_schema(subgraph(tells_sdl=tells_sdl).as_str())
        assert find_breaking_changes(plain, extended) == []
        assert plain.query_type
        assert extended.query_type
        added = set(extended.query_type.fields) - set(plain.query_type.fields)
        assert added == {"_entities", "_service"} if tells_sdl else {"_entities"}
        union = extended.type_map["_Entity"]
        assert {type_.name for type_ in extended.get_possible_types(union)} == set(ENTITIES)  # type: ignore[arg-type]


def test_the_sdl_is_the_plain_schema_with_a_key_for_each_entity() -> None:
    text = sdl()
    parse(text)
    assert text.startswith(schema.as_str())
    for name in ENTITIES:
        assert f'extend type {name} @key(fields: "id")' in text
    assert "_entities" not in text


def test_a_gateway_tells_its_sdl_unless_introspection_is_off() -> None:
    def refused(settings: Settings) -> list[str]:
        """The fields for routers that a gateway does not have."""
        documents = new_executor(settings).documents
        texts = {
            "_service": "{ _service { sdl } }",
            "_entities": "{ _entities(representations: []) { __typename } }",
        }
        return [name for name, text in texts.items() if documents.get(text).errors]

    assert refused(Settings()) == ["_service", "_entities"]
    assert refused(Settings(http=Http(federation=True))) == []
    assert refused(Settings(http=Http(federation=True, introspection=False))) == ["_service"]
