"""Makes a strawberry schema of a generated world: decorated classes, with the same resolvers as
`plain.py`."""

import inspect
import warnings
from collections.abc import Callable, Sequence
from copy import deepcopy
from enum import Enum
from functools import partial
from typing import Annotated, Any, NewType, Optional, Union, cast

import strawberry
from strawberry.extensions import FieldExtension
from strawberry.permission import BasePermission, PermissionExtension
from strawberry.schema.config import StrawberryConfig
from strawberry.types.info import Info

from loaders.base import Loader
from loaders.bulk import Resolver, for_one
from tests.execution.behavior import (
    ODD,
    Run,
    answer,
    answer_later,
    exception,
    mix,
    overwriting,
    produce,
    respond,
    traced,
    wait,
)
from tests.execution.plain import _ENUM_VALUES, key_of, parse, seen_in, serialize
from tests.execution.worlds import ABSENT, Argument, Field, Ref, World, camel

_BUILT_IN = {"Int": int, "String": str, "Boolean": bool, "Float": float, "ID": strawberry.ID}


class Built:
    """The strawberry schema of a world, and its classes by name."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.classes: dict[str, Any] = dict(_BUILT_IN)
        self.scalars: dict[Any, Any] = {}
        self.counting: dict[str, Any] = {}
        self.schema = self._build()

    def make(self, run: Run, name: str, key: int) -> Any:
        """Returns the value of an object."""
        values = {}
        run.eager = True
        for field in run.world.objects[name].fields:
            if field.style == "attribute":
                child = mix(key, field.name.encode())
                values[field.name] = produce(run, field.type.wraps, field.type.name, child)
        run.eager = False
        if not run.sharing and mix(key, b"kind") % 5 == 0:
            run.seen.add("counting attributes")
            return self._counting(name, key, values)
        node = self.classes[name](**values)
        node.__dict__["key_"] = key
        if run.sharing:
            run.frozen.append(node)
        return node

    def _counting(self, name: str, key: int, values: dict[str, Any]) -> Any:
        """The value of an object whose attributes are properties, which tell that they were read
        before. Some raise."""
        kind = self.counting.get(name)
        if kind is None:
            attributes = {attribute: _counted(attribute) for attribute in values}
            kind = type(name, (self.classes[name],), attributes)
            self.counting[name] = kind
        node = object.__new__(kind)
        node.__dict__.update(key_=key, _values=values, _read=set())
        return node

    def enum_value(self, run: Run, name: str, key: int) -> Any:
        members = list(self.classes[name])
        member = members[key % len(members)]
        return member if key % 9 else member.value

    def _build(self) -> strawberry.Schema:
        world, classes = self.world, self.classes
        for name, values in world.enums.items():
            members = {v: _ENUM_VALUES[i] for i, v in enumerate(values)}
            classes[name] = strawberry.enum(Enum(name, members))
        for name, kind in world.scalars.items():
            classes[name] = NewType(name, object)
            self.scalars[classes[name]] = strawberry.scalar(
                name=name, serialize=partial(serialize, kind), parse_value=partial(parse, kind)
            )
        for name in world.inputs:
            classes[name] = type(name, (), {"__annotations__": {}})
        for abstract in world.abstracts.values():
            if not abstract.union:
                bases = tuple(classes[up] for up in abstract.interfaces)
                classes[abstract.name] = type(abstract.name, bases, {"__annotations__": {}})
        for object_ in world.objects.values():
            ups = sorted(
                object_.interfaces, key=lambda up: -len(self.world.abstracts[up].interfaces)
            )
            bases = tuple(classes[up] for up in ups)
            classes[object_.name] = type(
                object_.name, bases, {"__annotations__": {}, "__repr__": _shown}
            )
        for abstract in world.abstracts.values():
            if abstract.union:
                members = Union[tuple(classes[m] for m in abstract.members)]  # noqa: UP007
                classes[abstract.name] = Annotated[members, strawberry.union(abstract.name)]
        for name, arguments in world.inputs.items():
            self._input(classes[name], arguments)
        inherited: dict[str, set[str]] = {}
        for abstract in world.abstracts.values():
            if not abstract.union:
                known = set().union(*(inherited[up] for up in abstract.interfaces))
                inherited[abstract.name] = known | {f.name for f in abstract.fields}
                own = [f for f in abstract.fields if f.name not in known]
                self._fields(classes[abstract.name], own, "")
                strawberry.interface(classes[abstract.name])
        for object_ in world.objects.values():
            known = set().union(*(inherited[up] for up in object_.interfaces))
            own = [f for f in object_.fields if f.name not in known]
            self._fields(classes[object_.name], own, object_.name)
            strawberry.type(classes[object_.name])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return strawberry.Schema(
                classes["Query"],
                classes["Mutation"],
                types=[classes[name] for name in world.objects],
                config=StrawberryConfig(scalar_map=self.scalars),
            )

    def annotation(self, ref: Ref) -> Any:
        if ref.required:
            inner = ref.inner
            if inner.wraps:
                return list[self.annotation(inner.inner)]  # type: ignore[misc]
            return self.classes[inner.name]
        return Optional[self.annotation(Ref("!" + ref.wraps, ref.name))]  # noqa: UP045

    def _default(self, argument: Argument) -> Any:
        """Returns a default value as a Python value."""

        def convert(value: Any) -> Any:
            if isinstance(value, list):
                return [convert(item) for item in value]
            if argument.type.name in self.world.enums and value is not None:
                return self.classes[argument.type.name][value]
            return value

        if argument.default is ABSENT:
            return inspect.Parameter.empty if argument.type.required else strawberry.UNSET
        return convert(argument.default)

    def _input(self, class_: Any, arguments: list[Argument]) -> None:
        for a in arguments:
            class_.__annotations__[a.name] = self.annotation(a.type)
            default = self._default(a)
            if isinstance(default, (list, dict)):
                made = strawberry.field(default_factory=partial(deepcopy, default))
                setattr(class_, a.name, made)
            elif default is not inspect.Parameter.empty:
                setattr(class_, a.name, default)
        strawberry.input(class_)

    def _fields(self, class_: Any, fields: list[Field], owner: str) -> None:
        for field in fields:
            if field.style == "attribute":
                class_.__annotations__[field.name] = self.annotation(field.type)
                continue
            resolver, options = self._resolver(field, owner)
            made = strawberry.field(resolver=resolver, **options)
            setattr(class_, field.name, made)

    def _resolver(self, field: Field, owner: str) -> tuple[Callable[..., Any], dict[str, Any]]:
        options: dict[str, Any] = {}
        if "permission" in field.extras:
            kind = len(field.name) + len(field.type.wraps) + len(field.args)
            if not field.type.required and kind % 4 == 0:
                extension = PermissionExtension([_Allowed(), _AllowedLater()], fail_silently=True)
                options["extensions"] = [extension]
            else:
                options["permission_classes"] = [_AllowedLater if kind % 3 == 0 else _Allowed]
        if "extension" in field.extras:
            options["extensions"] = [(_Louder, _Later)[len(field.type.wraps) % 2]()]
        if field.style == "bulk":
            function, options["metadata"] = _bulk(field)
        elif field.style.startswith("hinted"):
            function, options["metadata"] = _hinted(field, owner)
        else:
            function = _plain(field, owner, self.world.attributes())
        self._sign(function, field)
        return function, options

    def _sign(self, function: Callable[..., Any], field: Field) -> None:
        """Set the signature and annotations of a resolver, which strawberry reads."""
        either = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = [
            inspect.Parameter("root", either, annotation=Any),
            inspect.Parameter("info", either, annotation=Info),
        ]
        for a in field.args:
            parameters.append(
                inspect.Parameter(
                    a.name, either, annotation=self.annotation(a.type), default=self._default(a)
                )
            )
        returned = self.annotation(field.type)
        function.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            parameters, return_annotation=returned
        )
        function.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": returned}
        function.__name__ = field.name


def _counted(name: str) -> property:
    def get(node: Any) -> Any:
        if name in node._read:
            return "read again"
        node._read.add(name)
        if mix(node.key_, name.encode()) % 9 == 0:
            raise RuntimeError(f"no {name}")
        return node._values[name]

    return property(get)


def _shown(node: Any) -> str:
    return f"<{type(node).__name__} {key_of(node)}>"


def _keyed(run: Run, field: Field, parent: Any, arguments: dict[str, Any]) -> int:
    key = mix(key_of(parent) ^ run.world.seed, field.name.encode())
    if arguments:
        run.seen.add("arguments")
        key = mix(key, repr(sorted(arguments.items())).encode())
    return key


def _plain(field: Field, owner: str, attributes: list[str]) -> Callable[..., Any]:
    informed, changes = "info" in field.extras, owner == "Mutation"

    def resolve(root: Any, info: Any, **arguments: Any) -> Any:
        run = info.context
        key = _keyed(run, field, root, arguments)
        if informed:
            run.seen.add("info")
            key = mix(key, seen_in(info._raw_info))
            key = mix(key, repr((info.path.key, info.python_name, info.field_name)).encode())
        if changes:
            run.trace.append(f"call {field.name} {key}")
        result = respond(run, field, key)
        if "writes" in field.extras and root is not None and hasattr(result, "__await__"):
            result = overwriting(run, root, attributes, result)
        return traced(run, field.name, key, result) if changes else result

    if field.style != "async":
        return resolve

    async def resolve_async(root: Any, info: Any, **arguments: Any) -> Any:
        return await resolve(root, info, **arguments)

    return resolve_async


def _bulk(field: Field) -> tuple[Callable[..., Any], dict[str, Any]]:
    def value(context: Run, parent: Any, arguments: dict[str, Any]) -> Any:
        try:
            return answer(context, field, _keyed(context, field, parent, arguments))
        except Exception as error:
            return error

    def value_or_awaitable(context: Run, parent: Any, arguments: dict[str, Any]) -> Any:
        key = _keyed(context, field, parent, arguments)
        if mix(key, b"awaited") % 3:
            return value(context, parent, arguments)
        context.seen.add("bulk values awaited")
        return answer_later(context, field, key)

    def resolve_now(context: Run, parents: Sequence[Any], **arguments: Any) -> Any:
        seed = _asked(context, field, parents)
        if context.trouble and seed % 40 == 0:
            raise exception(seed)
        values = [value_or_awaitable(context, parent, arguments) for parent in parents]
        return values if seed % 2 else tuple(values)

    async def resolve_all(context: Run, parents: Sequence[Any], **arguments: Any) -> Any:
        await wait(context, mix(context.world.seed, field.name.encode()))
        return resolve_now(context, parents, **arguments)

    def load_all(context: Run, parents: Sequence[Any], **arguments: Any) -> Any:
        seed = _asked(context, field, parents)
        context.seen.add("bulk loads")
        if context.trouble and seed % 40 == 3:
            raise exception(seed)
        if context.values is None:
            context.values = _Values(context)
        return context.values.many(
            [partial(value, context, parent, arguments) for parent in parents]
        )

    calls = (load_all, resolve_now, resolve_all)
    call = calls[mix(len(field.name), field.name.encode()) % len(calls)]

    def resolve(root: Any, info: Any, **given: Any) -> Any:
        arguments = {name: value for name, value in given.items() if value is not None}
        return for_one(call, info.context, root, **arguments)

    return resolve, {"resolver": Resolver(call, rooted=True, bulk=True)}


def _asked(context: Run, field: Field, parents: Sequence[Any]) -> int:
    context.seen.add("bulk")
    if len(parents) > 1:
        context.seen.add("bulk of several")
    return mix(context.world.seed, field.name.encode())


class _Values(Loader[Any, Any]):
    """A loader of this project. Each key is a function, which is called for the key's value."""

    def __init__(self, context: Run) -> None:
        super().__init__(cast(Any, None))
        self._context = context

    async def load_batch(self, keys: list[Any]) -> list[Any]:
        await wait(self._context, self._context.world.seed, of_request=False)
        return [key() for key in keys]


def _hinted(field: Field, owner: str) -> tuple[Callable[..., Any], dict[str, Any]]:
    """A resolver that the executor calls directly, as it calls the resolvers of Pinway's schema."""

    def respond_now(context: Run, parent: Any, **arguments: Any) -> Any:
        context.seen.add("hinted")
        return answer(context, field, _keyed(context, field, parent, arguments))

    async def respond_later(context: Run, parent: Any, **arguments: Any) -> Any:
        context.seen.add("hinted")
        return await answer_later(context, field, _keyed(context, field, parent, arguments))

    call = respond_later if field.style == "hinted async" else respond_now
    rooted = owner not in ("Query", "Mutation")
    contextual = bool(field.args) or not rooted or field.style == "hinted async"

    def resolve(root: Any, info: Any, **given: Any) -> Any:
        arguments = {name: value for name, value in given.items() if value is not None}
        return call(info.context, root, **arguments)

    if not rooted:

        def called(context: Any, **given: Any) -> Any:
            return call(context, None, **given)

        return resolve, {"resolver": Resolver(called, rooted=False)}
    if contextual:
        return resolve, {"resolver": Resolver(call, rooted=True)}

    def of_parent(parent: Any) -> Any:
        key = key_of(parent)
        return ODD[key % 3] if key % 8 == 0 else None

    def resolve_parent(root: Any, info: Any) -> Any:
        info.context.seen.add("hinted")
        return of_parent(root)

    return resolve_parent, {"resolver": Resolver(of_parent, rooted=True, contextual=False)}


class _Allowed(BasePermission):
    message = "not allowed"
    error_extensions = {"code": "FORBIDDEN"}  # noqa: RUF012

    def has_permission(self, source: Any, info: Any, **kwargs: Any) -> bool:
        info.context.seen.add("permissions")
        return mix(key_of(source), info.field_name.encode()) % 6 != 0


class _AllowedLater(BasePermission):
    message = "not allowed, as it turned out"

    async def has_permission(self, source: Any, info: Any, **kwargs: Any) -> bool:
        info.context.seen.add("permissions")
        key = mix(key_of(source), info.field_name.encode() + b"later")
        await wait(info.context, key)
        return key % 6 != 0


class _Louder(FieldExtension):
    """A field extension for plain and async resolvers. It changes the result."""

    def resolve(self, next_: Any, source: Any, info: Any, **kwargs: Any) -> Any:
        info.context.seen.add("field extensions")
        value = next_(source, info, **kwargs)
        return f"{value}!" if isinstance(value, str) else value

    async def resolve_async(self, next_: Any, source: Any, info: Any, **kwargs: Any) -> Any:
        info.context.seen.add("field extensions")
        value = await next_(source, info, **kwargs)
        return f"{value}!!" if isinstance(value, str) else value


class _Later(FieldExtension):
    """A field extension that is only async, so that plain resolvers become async."""

    async def resolve_async(self, next_: Any, source: Any, info: Any, **kwargs: Any) -> Any:
        info.context.seen.add("field extensions")
        await wait(info.context, key_of(source))
        value = next_(source, info, **kwargs)
        return await value if inspect.isawaitable(value) else value


def build(world: World) -> Built:
    return Built(world)


__all__ = ["Built", "build", "camel"]
