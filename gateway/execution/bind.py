"""How a field's values are got: a constant, an attribute, or a call, and with what."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeAlias

from graphql import default_field_resolver
from graphql.type.introspection import TypeNameMetaFieldDef
from strawberry import ID
from strawberry.types.arguments import convert_arguments
from strawberry.types.base import StrawberryOptional
from strawberry.types.field import StrawberryField

from gateway.execution.arguments import Arguments, shareable
from gateway.execution.frames import without_frame
from gateway.execution.info import make_info, same_for_all
from gateway.execution.kinds import any_callable, kinds_of
from resolvers.bulk import Resolver

if TYPE_CHECKING:
    from gateway.execution.collect import Field
    from gateway.execution.places import Place
    from gateway.execution.run import Run

BACK_REFERENCE = "strawberry-definition"
_STRAWBERRY_RESOLVERS = {
    f"GraphQLCoreConverter.from_resolver.<locals>.{name}"
    for name in ("_get_basic_result", "_resolver", "_async_resolver")
}


class Constant:
    """The same value for all objects: __typename."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Attribute:
    """An attribute of the object; if `keyed`, as graphql-core's default resolver has it: a
    mapping's item, null when it is missing, and called when it can be."""

    def __init__(self, name: str, keyed: bool, arguments: Arguments) -> None:
        self.name, self.keyed, self.arguments = name, keyed, arguments
        self._get = attrgetter(name)
        self._plain = name.isidentifier() and not keyword.iskeyword(name)
        self.placeless = not keyed
        """Whether it asks for no path, as what is called may."""

    def of_object(self, o: str) -> str:
        """The expression that reads it."""
        return f"{o}.{self.name}" if self._plain else f"getattr({o}, {self.name!r})"

    def start(self, run: Run, field: Field, objs: Sequence[Any], place: Place | None) -> list[Any]:
        try:
            if not self.keyed:
                return list(map(self._get, objs))
            kinds = kinds_of(objs)
            if kinds == {dict}:
                name = self.name
                values = [o.get(name) for o in objs]
            elif _has_mapping(kinds):
                raise AttributeError
            else:
                values = list(map(self._get, objs))
            if not any_callable(kinds_of(values)):
                return values
        except Exception:  # one of them, or its attribute, is different: one by one
            pass
        return [self._or_error(run, field, obj, place, i) for i, obj in enumerate(objs)]

    def _or_error(self, run: Run, field: Field, obj: Any, place: Place | None, i: int) -> Any:
        try:
            return self.of(run, field, obj, place, i)
        except Exception as error:
            return without_frame(error)

    def of(self, run: Run, field: Field, obj: Any, place: Place | None, i: int) -> Any:
        """One object's. Raises what reading or calling it does."""
        if not self.keyed:
            return getattr(obj, self.name)
        value = obj.get(self.name) if isinstance(obj, Mapping) else getattr(obj, self.name, None)
        if callable(value):
            info = make_info(run, field, place, i)
            return value(info, **self.arguments.of(run))
        return value


def _has_mapping(kinds: set[type]) -> bool:
    return any(issubclass(kind, Mapping) for kind in kinds)


class Call:
    """A function called for each object, in a generated loop."""

    def __init__(
        self,
        function: Callable[..., Any],
        expression: str,
        arguments: Arguments,
        new_info: Callable[[Any], Any] | None,
        shared_info: bool,
    ) -> None:
        self._function, self._arguments = function, arguments
        self._new_info, self._shared_info = new_info, shared_info
        self._expression = expression if arguments.none else _with_keywords(expression)
        self.placeless = shared_info
        """Whether it asks for no path."""

    def start(self, run: Run, field: Field, objs: Sequence[Any], place: Place | None) -> list[Any]:
        """A value, an awaitable or an exception for each object."""
        count = len(objs)
        try:
            arguments = self._arguments.of(run)
            each = count > 1 and not shareable(arguments)
            kws: Any = [self._arguments.of(run) for _ in objs] if each else arguments
        except Exception as error:
            return [error] * count
        infos: Any = None
        each_info = False
        if self._new_info is not None:
            if self._shared_info or count == 1:
                infos = self._new_info(make_info(run, field, place, 0))
            else:
                each_info = True
                infos = [self._new_info(make_info(run, field, place, i)) for i in range(count)]
        return _caller(self._expression, each_info, each)(
            self._function, objs, run.context, infos, kws
        )


def _with_keywords(expression: str) -> str:
    return expression[:-1] + ("**kw)" if expression.endswith("()") else ", **kw)")


class Bulk:
    """A function called once with all objects."""

    def __init__(self, function: Callable[..., Any], arguments: Arguments) -> None:
        self.function = function
        self.arguments = None if arguments.none else arguments


Source: TypeAlias = Constant | Attribute | Call | Bulk


@lru_cache(256)
def _caller(expression: str, infos: bool, kws: bool) -> Callable[..., list[Any]]:
    names = ["o", *(["info"] if infos else []), *(["kw"] if kws else [])]
    columns = ["objs", *(["info_"] if infos else []), *(["kw_"] if kws else [])]
    loop = "o in objs" if len(names) == 1 else f"{', '.join(names)} in zip({', '.join(columns)})"
    source = (
        f"def call(F, objs, ctx, {'info_' if infos else 'info'}, {'kw_' if kws else 'kw'}):\n"
        f"    out = []\n    add = out.append\n    for {loop}:\n"
        f"        try: add({expression})\n        except Exception as e: add(without_frame(e))\n"
        "    return out\n"
    )
    env: dict[str, Any] = {"without_frame": without_frame}
    exec(compile(source, "<calls>", "exec"), env)
    return env["call"]  # type: ignore[no-any-return]


def bind(field: Field) -> Source:
    """The shortest way to a field's values that gives what its graphql-core resolver would."""
    definition = field.definition
    if definition is TypeNameMetaFieldDef:
        return Constant(field.parent.name)
    resolve = definition.resolve
    if resolve is None or resolve is default_field_resolver:
        arguments = Arguments(field, None)
        if not arguments.sure:  # they are looked at first, and may be wrong
            return _bind_any(field, default_field_resolver)
        return Attribute(field.name, True, arguments)
    own = definition.extensions.get(BACK_REFERENCE) if definition.extensions else None
    if (
        isinstance(own, StrawberryField)
        and getattr(resolve, "__qualname__", "") in _STRAWBERRY_RESOLVERS
        and not own.extensions
        and type(own).get_result is StrawberryField.get_result
        and not _handles_exceptions(field)
    ):
        return _bind_strawberry(field, own) or _bind_any(field, resolve)
    return _bind_any(field, resolve)


def _bind_any(field: Field, resolve: Callable[..., Any]) -> Source:
    return Call(resolve, "F(o, info)", Arguments(field, None), _same, same_for_all(resolve, 1))


def _same(info: Any) -> Any:
    return info


def _bind_strawberry(field: Field, own: StrawberryField) -> Source | None:
    """Without strawberry's wrappers, where what they do is known."""
    schema = field.variant.plan.operation.schema._strawberry_schema  # type: ignore[attr-defined]
    config, registry = schema.config, schema.schema_converter.scalar_registry
    if own.base_resolver is None:
        if own.default_resolver is not getattr:
            return None
        return Attribute(own.python_name, False, Arguments(field, None))

    names = {config.name_converter.from_argument(a): a.python_name for a in own.arguments}
    plain = all(_is_plain(argument.type) for argument in own.arguments)

    def convert(values: dict[str, Any]) -> dict[str, Any]:
        if plain:
            return {names[name]: value for name, value in values.items()}
        return convert_arguments(values, own.arguments, registry, config)

    def convert_without_nulls(values: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in convert(values).items() if value is not None}

    metadata: Mapping[Any, Any] = own.metadata or {}
    resolver = metadata.get("resolver")
    if isinstance(resolver, Resolver):
        arguments = Arguments(field, convert_without_nulls)
        if resolver.bulk:
            return Bulk(resolver.call, arguments)
        parts = (["ctx"] if resolver.contextual else []) + (["o"] if resolver.rooted else [])
        return Call(resolver.call, f"F({', '.join(parts)})", arguments, None, True)
    if "bulk" in metadata:
        return Bulk(metadata["bulk"], Arguments(field, convert))
    if any(_builds_itself(argument.type) for argument in own.arguments):
        return None
    base = own.base_resolver
    function: Any = base.wrapped_func
    if not isinstance(function, FunctionType):
        return None
    parts = []
    if base.self_parameter:
        parts.append("o")
    if base.parent_parameter:
        parts.append(f"{base.parent_parameter.name}=o")
    if base.root_parameter:
        parts.append(f"{base.root_parameter.name}=o")
    new_info = None
    shared = True
    if base.info_parameter:
        name = base.info_parameter.name
        parts.append(f"{name}=info")
        shared = same_for_all(function, name)
        info_class = config.info_class

        def new_info(info: Any) -> Any:
            return info_class(_raw_info=info, _field=own)

    arguments = Arguments(field, convert, names if plain else None)
    return Call(function, f"F({', '.join(parts)})", arguments, new_info, shared)


def _is_plain(type_: Any) -> bool:
    """Whether strawberry gives values of this type as graphql-core has them."""
    if type(type_) is StrawberryOptional:
        type_ = type_.of_type
    return type_ in (str, int, float, bool, ID)


def _builds_itself(type_: Any) -> bool:
    """Whether an input type makes its own value, for which it may ask the info."""
    while hasattr(type_, "of_type"):
        type_ = type_.of_type
    found = getattr(type_, "__strawberry_definition__", None)
    return found is not None and getattr(found, "from_input", None) is not None


def _handles_exceptions(field: Field) -> bool:
    schema = getattr(field.variant.plan.operation.schema, "_strawberry_schema", None)
    return schema is None or bool(getattr(schema.schema_converter, "exception_handlers", ()))
