"""Generates worlds. A world describes a schema and the behavior of its resolvers.

A world is plain data. `plain.py` makes a graphql-core schema of it, and `decorated.py` a strawberry
schema. `behavior.py` has the resolvers, and `operations.py` makes operations.
"""

from dataclasses import dataclass, field
from typing import Any

from tests.execution.drawing import Draw

SCALARS = ("Int", "String", "Boolean", "Float", "ID")
ABSENT: Any = type("Absent", (), {"__repr__": lambda self: "ABSENT"})()


@dataclass(frozen=True, slots=True)
class Ref:
    """A type reference: its wrappers from the outside in (`!` for non-null, `[` for a list), and
    its name."""

    wraps: str
    name: str

    def __str__(self) -> str:
        if not self.wraps:
            return self.name
        inner = str(Ref(self.wraps[1:], self.name))
        return f"{inner}!" if self.wraps[0] == "!" else f"[{inner}]"

    @property
    def required(self) -> bool:
        return self.wraps.startswith("!")

    @property
    def inner(self) -> "Ref":
        return Ref(self.wraps[1:], self.name)


@dataclass(slots=True)
class Argument:
    """An argument, or a field of an input type. `name` is the Python name. `default` is the value
    that a client would send."""

    name: str
    type: Ref
    default: Any = ABSENT


@dataclass(slots=True)
class Field:
    """A field. `style` is the kind of its resolver (STYLES), and `extras` are further properties of
    the resolver (EXTRAS)."""

    name: str
    type: Ref
    style: str
    args: list[Argument] = field(default_factory=list)
    extras: frozenset[str] = frozenset()


@dataclass(slots=True)
class Object:
    """An object type. `recognizes` is the kind of its `is_type_of`, or "" if it has none."""

    name: str
    fields: list[Field]
    interfaces: list[str] = field(default_factory=list)
    recognizes: str = ""


@dataclass(slots=True)
class Abstract:
    """An interface (with fields) or a union. `resolves` is the kind of its `resolve_type`, or ""
    for the default."""

    name: str
    members: list[str]
    fields: list[Field] = field(default_factory=list)
    interfaces: list[str] = field(default_factory=list)
    resolves: str = ""
    union: bool = False


@dataclass(slots=True)
class World:
    """A schema and the behavior of its resolvers. `trouble` is the percentage of wrong values and
    errors. `ambient` says whether resolvers use context variables, and `shares` whether most of
    them await what other resolvers await, too."""

    seed: int
    decorated: bool
    trouble: int
    ambient: bool
    shares: bool
    enums: dict[str, list[str]]
    scalars: dict[str, str]
    inputs: dict[str, list[Argument]]
    objects: dict[str, Object]
    abstracts: dict[str, Abstract]

    def leaf(self, name: str) -> bool:
        return name not in self.objects and name not in self.abstracts

    def fields(self, name: str) -> list[Field]:
        known = self.objects.get(name) or self.abstracts[name]
        return known.fields

    def attributes(self) -> list[str]:
        """Returns the names of all fields that are attributes of objects."""
        return [
            f.name
            for object_ in self.objects.values()
            for f in object_.fields
            if f.style == "attribute"
        ]

    def possible(self, name: str) -> list[str]:
        """Returns the possible object types of a type."""
        return [name] if name in self.objects else self.abstracts[name].members


def camel(name: str) -> str:
    """Returns the GraphQL name for a Python name."""
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


STYLES = ("attribute", "sync", "async", "mixed", "method", "future", "custom", "task")
DECORATED_STYLES = ("attribute", "sync", "async", "mixed", "bulk", "hinted", "hinted async")
STRAIGHT_STYLES = ("attribute", "bulk", "hinted")
"""The styles of fields that are resolved without a path or a task of their own."""
_WITH_EXTRAS = ("sync", "async", "mixed", "future", "custom", "task")
EXTRAS = ("info", "permission", "extension", "timeout", "ambient", "writes")
SCALAR_KINDS = ("json", "even", "shout", "fickle", "late")


def new_world(draw: Draw) -> World:
    return _Builder(draw).build()


class _Builder:
    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.count = 0
        self.decorated = draw.chance(50)
        self.straight = self.decorated and draw.chance(40)
        self.ambient = draw.chance(40)
        self.shares = draw.chance(25)
        self.trouble = draw.pick((3, 10, 30) if self.shares else (0, 0, 3, 10, 30))
        self.enums = {f"Enum{n}": [f"V{v}" for v in range(2 + draw.below(3))] for n in range(1)}
        self.scalars = {f"Scalar{n}": draw.pick(SCALAR_KINDS) for n in range(1 + draw.below(2))}
        self.inputs: dict[str, list[Argument]] = {}
        self.outputs: list[str] = []

    def build(self) -> World:
        draw = self.draw
        for n in range(1 + draw.below(2)):
            self.inputs[f"Input{n}"] = []  # first, so that the type can refer to itself
            self.inputs[f"Input{n}"] = self._arguments(1 + draw.below(3), "k", inside=f"Input{n}")
        objects = [f"Object{n}" for n in range(2 + draw.below(3))]
        interfaces = [f"Face{n}" for n in range(1 + draw.below(2))]
        unions = ["Union0"]
        self.outputs = [*objects, *interfaces, *unions]
        abstracts: dict[str, Abstract] = {}
        for n, name in enumerate(interfaces):
            above = [interfaces[0]] if n and draw.chance(50) else []
            inherited = [f for up in above for f in self._inherited(abstracts[up].fields)]
            own = self._fields(1 + draw.below(2))
            abstracts[name] = Abstract(
                name, [], inherited + own, above, draw.pick(("", "sync", "async", "wrong"))
            )
        known = {}
        for name in objects:
            own_faces = draw.some(interfaces) if draw.chance(70) else []
            own_faces += [
                up for i in own_faces for up in abstracts[i].interfaces if up not in own_faces
            ]
            inherited_fields: dict[str, Field] = {}
            for face in sorted(own_faces, key=lambda i: -len(abstracts[i].interfaces)):
                for f in self._inherited(abstracts[face].fields, narrow=not self.decorated):
                    inherited_fields.setdefault(f.name, f)
                abstracts[face].members.append(name)
            fields = list(inherited_fields.values()) + self._fields(2 + draw.below(4))
            known[name] = Object(
                name, fields, own_faces, draw.pick(("", "", "sync", "async", "raising"))
            )
        for face in interfaces:
            if not abstracts[face].members:
                abstracts[face].members.append(objects[0])
                known[objects[0]].interfaces.append(face)
                known[objects[0]].fields += self._inherited(
                    [
                        f
                        for f in abstracts[face].fields
                        if f.name not in {have.name for have in known[objects[0]].fields}
                    ]
                )
        for object_ in known.values():  # an object must have the interfaces of its interfaces
            for face in list(object_.interfaces):
                for up in abstracts[face].interfaces:
                    if up not in object_.interfaces:
                        object_.interfaces.append(up)
                        abstracts[up].members.append(object_.name)
        members = draw.some(objects, least=1)
        abstracts["Union0"] = Abstract(
            "Union0", members, resolves=draw.pick(("", "sync", "async", "wrong")), union=True
        )
        root = self._fields(5 + draw.below(4), rich=True, attributes=False)
        root[0].type = Ref(root[0].type.wraps, "Union0")  # so that the union is in the schema
        changes = self._fields(2 + draw.below(3), attributes=False)
        known["Query"] = Object("Query", root)
        known["Mutation"] = Object("Mutation", changes)
        return World(
            seed=draw.below(1 << 30),
            decorated=self.decorated,
            trouble=self.trouble,
            ambient=self.ambient,
            shares=self.shares,
            enums=self.enums,
            scalars=self.scalars,
            inputs=self.inputs,
            objects=known,
            abstracts=abstracts,
        )

    def _inherited(self, fields: list[Field], narrow: bool = False) -> list[Field]:
        copies = []
        for f in fields:
            type_ = f.type
            if narrow and not type_.required and self.draw.chance(20):
                type_ = Ref("!" + type_.wraps, type_.name)
            copies.append(Field(f.name, type_, f.style, f.args, f.extras))
        return copies

    def _fields(self, count: int, *, rich: bool = False, attributes: bool = True) -> list[Field]:
        fields = []
        for _ in range(count):
            self.count += 1
            straight = self.straight and attributes
            if self.draw.chance(70 if rich else 40):
                name = self.draw.pick(self.outputs[:2] if straight else self.outputs)
            else:
                name = self.draw.pick((*SCALARS, *self.enums, *self.scalars))
            type_ = Ref(self._wraps(1 if straight else 3), name)
            style = self.draw.pick(DECORATED_STYLES if self.decorated else STYLES)
            if straight:
                style = self.draw.pick(STRAIGHT_STYLES)
            if style == "attribute" and (not attributes or name in self.outputs):
                style = "sync"
            if style == "bulk" and not attributes:
                style = "async"  # a root field has a single parent
            if style == "method" and not attributes:
                style = "sync"
            args = []
            if style != "attribute" and self.draw.chance(35):
                args = self._arguments(1 + self.draw.below(2), "a")
            extras: frozenset[str] = frozenset()
            if style in _WITH_EXTRAS and self.draw.chance(60 if self.decorated else 40):
                extras = frozenset((self.draw.pick(EXTRAS),))
            if style == "mixed" and extras & {"permission", "extension"}:
                style = "async"  # otherwise strawberry may take an awaitable for a value
            one_list = type_.wraps.count("[") == 1 and type_.wraps[-2:] != "[!"
            if style == "sync" and not extras and one_list and self.draw.chance(60):
                extras = frozenset(("shared",))
            fields.append(Field(f"f_x{self.count}", type_, style, args, extras))
        return fields

    def _arguments(self, count: int, letter: str, inside: str = "") -> list[Argument]:
        arguments = []
        for _ in range(count):
            self.count += 1
            given = [name for name, kind in self.scalars.items() if kind != "late"]
            names = (*SCALARS, *self.enums, *given, *self.inputs)
            name = self.draw.pick(names)
            wraps = self._wraps(2)
            if name == inside:  # a type must not require itself
                wraps = wraps.lstrip("!") if "[" in wraps else ""
            type_ = Ref(wraps, name)
            default = ABSENT
            if name not in self.inputs and self.draw.chance(35):
                default = input_value(self.draw, type_, self)
                if self.decorated and letter == "a" and isinstance(default, (list, dict)):
                    default = ABSENT  # strawberry hashes defaults, and this one is unhashable
            arguments.append(Argument(f"{letter}_x{self.count}", type_, default))
        if self.decorated:  # Python wants parameters without a default first
            arguments.sort(key=lambda a: a.default is not ABSENT or not a.type.required)
        return arguments

    def _wraps(self, depth: int) -> str:
        wraps = "!" if self.draw.chance(25) else ""
        if depth and self.draw.chance(33):
            wraps += "[" + self._wraps(depth - 1)
        return wraps


class EnumName(str):
    """An enum value as a client writes it in a document."""

    __slots__ = ()


_STRINGS = ("", "a", 'quo"te\\', "π 😀", "line\nend", "\x07\u2028")
_JUNK = (None, "x", 7, 1.5, True, [], {}, {"zzz": 1}, [None], 1 << 40, "V0", -0.0)


def input_value(draw: Draw, type_: Ref, world: Any, *, wrong: bool = False, depth: int = 0) -> Any:
    """Returns a value of an input type as a client sends it. With `wrong`, a part of it is
    wrong."""
    if wrong and draw.chance(50):
        return draw.pick(_JUNK)
    if type_.required:
        return _given(draw, type_.inner, world, wrong, depth)
    if draw.chance(12):
        return None
    return _given(draw, type_, world, wrong, depth)


def _given(draw: Draw, type_: Ref, world: Any, wrong: bool, depth: int) -> Any:
    """Returns a value that is not null."""
    if type_.wraps:
        inner = type_.inner
        if draw.chance(10) and depth < 3:  # a single item is coerced to a list of it
            single = input_value(draw, inner, world, wrong=wrong, depth=depth + 1)
            if single is not None and not isinstance(single, list):
                return single
        return [
            input_value(draw, inner, world, wrong=wrong, depth=depth + 1)
            for _ in range(draw.below(3) if depth < 3 else 0)
        ]
    name = type_.name
    if name in world.inputs:
        value = {}
        for argument in world.inputs[name]:
            optional = argument.default is not ABSENT or not argument.type.required
            if optional and (depth > 1 or draw.chance(40)):
                continue
            value[camel(argument.name)] = input_value(
                draw, argument.type, world, wrong=wrong, depth=depth + 1
            )
        return value
    if name in world.enums:
        return EnumName(draw.pick(world.enums[name]))
    if name in world.scalars:
        kind = world.scalars[name]
        if kind == "json":
            return draw.pick((0, "j", [1, [True, "j"]], {"p": {"q": 1.5}}, False))
        if kind == "even":
            return 2 * draw.below(9)
        return draw.pick(_STRINGS)
    if name == "Int":
        return draw.pick((0, 1, -7, 2**31 - 1, -(2**31)))
    if name == "Float":
        return draw.pick((0, 1.5, -2.25, 1e30, 3))
    if name == "Boolean":
        return draw.chance(50)
    if name == "ID":
        return draw.pick(("", "id", 5, "12345678901234567890"))
    return draw.pick(_STRINGS)
