"""Makes a graphql-core schema of a generated world, without strawberry."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from graphql import (
    GraphQLArgument,
    GraphQLBoolean,
    GraphQLEnumType,
    GraphQLEnumValue,
    GraphQLError,
    GraphQLField,
    GraphQLFloat,
    GraphQLID,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInt,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLString,
    GraphQLUnionType,
    Undefined,
)
from graphql.pyutils import inspect
from graphql.utilities import coerce_input_value

from tests.execution.behavior import (
    Run,
    exception,
    mix,
    overwriting,
    produce,
    respond,
    traced,
    wait,
)
from tests.execution.worlds import ABSENT, Abstract, Argument, Field, Object, Ref, World, camel

_ENUM_VALUES: tuple[Any, ...] = (0, "one", ("two", 2), 3.5)
BUILT_IN = {t.name: t for t in (GraphQLInt, GraphQLFloat, GraphQLString, GraphQLBoolean, GraphQLID)}


class Node:
    """The value of an object."""

    def __init__(self, name: str, key: int, values: dict[str, Any]) -> None:
        self.key_, self.name_ = key, name
        self.__dict__.update(values)

    def __repr__(self) -> str:
        return f"<{self.name_} {self.key_}>"


class Telling(Node):
    """The value of an object with a `__typename`, which the default type resolver reads."""

    def __init__(self, name: str, key: int, values: dict[str, Any]) -> None:
        super().__init__(name, key, values)
        self.__typename = name


class Computed:
    """The value of an object whose attributes are computed by `__getattr__`. Some of them raise."""

    def __init__(self, name: str, key: int, values: dict[str, Any]) -> None:
        self.key_, self.name_, self._values = key, name, values

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._values:
            raise AttributeError(name)
        if mix(self.key_, name.encode()) % 7 == 0:
            raise RuntimeError(f"no {name}")
        return self._values[name]

    def __repr__(self) -> str:
        return f"<{self.name_} {self.key_}>"


class Counting(Computed):
    """The value of an object whose attributes change when they are read twice."""

    def __getattr__(self, name: str) -> Any:
        value = super().__getattr__(name)
        if isinstance(value, Method):  # with variables as arguments it is read as resolvers are
            return value
        read = self.__dict__.setdefault("_read", set())
        if name in read:
            return "read again"
        read.add(name)
        return value


def key_of(source: Any) -> int:
    """Returns the key of a resolver's parent, which may be of any class."""
    if isinstance(source, dict):
        return int(source.get("key_", 1))
    key = getattr(source, "key_", 2)
    return key if isinstance(key, int) else 3


def name_of(source: Any) -> str | None:
    if isinstance(source, dict):
        return source.get("name_")
    name = getattr(source, "name_", None)
    return name if isinstance(name, str) else None


def seen_in(info: Any) -> bytes:
    """Returns the contents of a resolver's info as text."""
    path, names = info.path, []
    while path:
        names.append(path.typename)
        path = path.prev
    return repr(
        (
            info.field_name,
            info.path.as_list(),
            names,
            info.parent_type.name,
            str(info.return_type),
            sorted(info.variable_values.coerced.items()),
            info.operation.name.value if info.operation.name else None,
            [node.name.value for node in info.field_nodes],
            sorted(info.fragments),
            info.root_value,
        )
    ).encode()


def build(world: World) -> GraphQLSchema:
    return _Builder(world).build()


def make(run: Run, name: str, key: int) -> Any:
    """Returns the value of an object: a mapping, or an instance of one of the classes above."""
    kind = mix(key, b"kind") % (8 if run.sharing else 10)
    values: dict[str, Any] = {}
    run.eager = True
    for field in run.world.objects[name].fields:
        if field.style == "attribute":
            graphql_name = camel(field.name)
            child = mix(key, graphql_name.encode())
            values[graphql_name] = produce(run, field.type.wraps, field.type.name, child)
        elif field.style == "method":
            values[camel(field.name)] = Method(run, field, key)
    run.eager = False
    made = _made(run, name, key, kind, values)
    if run.sharing:
        run.frozen.append(made)
    return made


def _made(run: Run, name: str, key: int, kind: int, values: dict[str, Any]) -> Any:
    if kind < 2:
        told = {"__typename": name} if kind else {}
        return {"key_": key, "name_": name, **told, **values}
    if kind >= 8:
        run.seen.add("counting attributes")
        return Counting(name, key, values)
    if kind == 2:
        run.seen.add("computed attributes")
        return Computed(name, key, values)
    return Telling(name, key, values) if kind < 6 else Node(name, key, values)


class Method:
    """A callable attribute, which graphql-core's default resolver calls."""

    def __init__(self, run: Run, field: Field, key: int) -> None:
        self._run, self._key = run, key
        self._field = Field(field.name, field.type, "mixed", field.args, field.extras)

    def __call__(self, info: Any, **arguments: Any) -> Any:
        self._run.seen.add("methods")
        given = repr(arguments).encode() if arguments else b""
        key = mix(self._key, self._field.name.encode() + given)
        return respond(self._run, self._field, key)

    def __repr__(self) -> str:
        return f"<method {self._key}>"


class _Builder:
    def __init__(self, world: World) -> None:
        self.world = world
        self.types: dict[str, Any] = dict(BUILT_IN)

    def build(self) -> GraphQLSchema:
        world, types = self.world, self.types
        for name, values in world.enums.items():
            types[name] = GraphQLEnumType(
                name, {v: GraphQLEnumValue(_ENUM_VALUES[i]) for i, v in enumerate(values)}
            )
        for name, kind in world.scalars.items():
            types[name] = scalar(name, kind)
        for name, arguments in world.inputs.items():
            types[name] = GraphQLInputObjectType(
                name, partial(self._input_fields, arguments), out_type=_out_type
            )
        for abstract in world.abstracts.values():
            if not abstract.union:
                types[abstract.name] = GraphQLInterfaceType(
                    abstract.name,
                    partial(self._fields, abstract.fields, ""),
                    partial(self._types, abstract.interfaces),
                    resolve_type=_type_resolver(world, abstract),
                )
        for object_ in world.objects.values():
            types[object_.name] = GraphQLObjectType(
                object_.name,
                partial(self._fields, object_.fields, object_.name),
                partial(self._types, object_.interfaces),
                is_type_of=_recognizer(object_),
            )
        for abstract in world.abstracts.values():
            if abstract.union:
                types[abstract.name] = GraphQLUnionType(
                    abstract.name,
                    partial(self._types, abstract.members),
                    resolve_type=_type_resolver(world, abstract),
                )
        return GraphQLSchema(
            types["Query"], types["Mutation"], types=[types[n] for n in world.objects]
        )

    def _types(self, names: list[str]) -> list[Any]:
        return [self.types[name] for name in names]

    def _ref(self, ref: Ref) -> Any:
        if not ref.wraps:
            return self.types[ref.name]
        return (GraphQLNonNull if ref.required else GraphQLList)(self._ref(ref.inner))

    def _input_fields(self, arguments: list[Argument]) -> dict[str, GraphQLInputField]:
        return {
            camel(a.name): GraphQLInputField(
                self._ref(a.type), self._default(a), out_name=a.name if len(a.name) % 2 else None
            )
            for a in arguments
        }

    def _default(self, argument: Argument) -> Any:
        if argument.default is ABSENT:
            return Undefined
        return coerce_input_value(argument.default, self._ref(argument.type))

    def _fields(self, fields: list[Field], owner: str) -> dict[str, GraphQLField]:
        return {
            camel(f.name): GraphQLField(
                self._ref(f.type),
                {
                    camel(a.name): GraphQLArgument(
                        self._ref(a.type), self._default(a), out_name=a.name
                    )
                    for a in f.args
                },
                self._resolver(f, owner)
                if owner and f.style not in ("attribute", "method")
                else None,
            )
            for f in fields
        }

    def _resolver(self, field: Field, owner: str) -> Callable[..., Any]:
        return _resolver(field, owner, [camel(name) for name in self.world.attributes()])


def _out_type(value: dict[str, Any]) -> Any:
    return ("input", sorted(value.items()))


def _resolver(field: Field, owner: str, attributes: list[str]) -> Callable[..., Any]:
    name, changes = field.name.encode(), owner == "Mutation"
    informed = "info" in field.extras

    def resolve(source: Any, info: Any, **arguments: Any) -> Any:
        run = info.context
        key = mix(key_of(source) ^ run.world.seed, name)
        if arguments:
            run.seen.add("arguments")
            key = mix(key, repr(sorted(arguments.items())).encode())
        if informed:
            run.seen.add("info")
            key = mix(key, seen_in(info))
        if changes:
            run.trace.append(f"call {field.name} {key}")
        result = respond(run, field, key)
        if "writes" in field.extras and source is not None and hasattr(result, "__await__"):
            result = overwriting(run, source, attributes, result)
        return traced(run, field.name, key, result) if changes else result

    if field.style == "async" and not changes:

        async def resolve_async(source: Any, info: Any, **arguments: Any) -> Any:
            return await resolve(source, info, **arguments)

        return resolve_async
    return resolve


def _recognizer(object_: Object) -> Callable[..., Any] | None:
    how, name = object_.recognizes, object_.name

    def recognizes(value: Any, info: Any) -> Any:
        run = info.context
        run.seen.add("is_type_of")
        key = mix(key_of(value), name.encode())
        if how == "raising" and run.trouble and key % 5 == 0:
            raise exception(key)
        if key % 7 == 0:
            return 1 if name_of(value) == name else ""
        return name_of(value) == name

    async def recognizes_later(value: Any, info: Any) -> Any:
        run = info.context
        run.seen.add("async is_type_of")
        key = mix(key_of(value), name.encode())
        # If another type has recognized the value, this call ends in the background.
        await wait(run, key, of_request=name_of(value) == name)
        if run.trouble and key % 11 == 0:
            raise exception(key)
        return name_of(value) == name

    if not how:
        return None
    return recognizes_later if how == "async" else recognizes


def _type_resolver(world: World, abstract: Abstract) -> Callable[..., Any] | None:
    how = abstract.resolves
    wrong = (None, 5, "Nope", "Int", abstract.name, "Query", ["Object0"])

    def resolve_type(value: Any, info: Any, type_: Any) -> Any:
        run = info.context
        run.seen.add("abstract types resolved")
        key = mix(key_of(value), abstract.name.encode())
        if how == "wrong" and run.trouble and key % 4 == 0:
            if key % 3 == 0:
                raise exception(key)
            return wrong[key // 4 % len(wrong)]
        return name_of(value)

    async def resolve_type_later(value: Any, info: Any, type_: Any) -> Any:
        run = info.context
        await wait(run, key_of(value))
        return resolve_type(value, info, type_)

    if not how:
        return None
    return resolve_type_later if how == "async" else resolve_type


def serialize(kind: str, value: Any) -> Any:
    """Serialize a value as a custom scalar of the kind. Raises for a value that it refuses."""
    if kind == "json":
        return value if isinstance(value, (str, list, dict, bool, float)) else said(value)
    if kind == "even":
        if not isinstance(value, int) or value % 2 or value >= 2**60:
            raise ValueError(f"{said(value)} is not even")
        return value // 2
    if kind == "shout":
        return said(value).upper()
    if kind == "late":
        return _serialized_later(value)
    if isinstance(value, str) and len(value) % 4 == 0:
        return None if len(value) % 8 else Undefined
    if isinstance(value, str) and len(value) % 4 == 1:
        raise GraphQLError("fickle", extensions={"code": "FICKLE"})
    return {"fickle": said(value)}


async def _serialized_later(value: Any) -> Any:
    await asyncio.sleep(0)
    text = said(value)
    if len(text) % 7 == 0:
        raise ValueError("fickle as well")
    return text


def said(value: Any) -> str:
    """Returns a text that is equal for equal values of two runs: it has no memory addresses."""
    return value if isinstance(value, str) else inspect(value)


def parse(kind: str, value: Any) -> Any:
    """Parse a client's value as a custom scalar of the kind. Raises for a value that it refuses."""
    if kind == "json":
        return value
    if kind == "even":
        if not isinstance(value, int) or value % 2:
            raise ValueError(f"{value!r} is not even")
        return value * 10
    if not isinstance(value, str):
        if kind == "fickle":
            raise GraphQLError("fickle input", extensions={"code": "FICKLE"})
        raise TypeError(f"{value!r} is no text")
    return f"<{value}>"


def scalar(name: str, kind: str) -> GraphQLScalarType:
    return GraphQLScalarType(
        name, serialize=partial(serialize, kind), parse_value=partial(parse, kind)
    )


def enum_value(run: Run, name: str, key: int) -> Any:
    return _ENUM_VALUES[key % len(run.world.enums[name])]
