"""Generates operations on a generated world's schema, with variables. The operations are always
valid; variables may be wrong."""

import json
from dataclasses import dataclass, field
from typing import Any

from tests.execution.drawing import Draw
from tests.execution.worlds import (
    ABSENT,
    Argument,
    EnumName,
    Field,
    Ref,
    World,
    camel,
    input_value,
)

INTROSPECTION = (
    "{0}: __schema {{ queryType {{ name }} mutationType {{ name kind }} types {{ name kind }} }}",
    '{0}: __type(name: "Query") {{ name fields {{ name args {{ name defaultValue type {{ kind'
    " ofType {{ name kind }} }} }} type {{ name kind ofType {{ name }} }} isDeprecated }} }}",
    '{0}: __type(name: "Face0") {{ kind possibleTypes {{ name }} interfaces {{ name }} }}',
    '{0}: __type(name: "Input0") {{ inputFields {{ name defaultValue type {{ name }} }} isOneOf }}',
    '{0}: __type(name: "Enum0") {{ ...on __Type {{ enumValues(includeDeprecated: true)'
    " {{ name description __typename }} }} }}",
    '{0}: __type(name: "Nothing") {{ name }}',
    "{0}: __schema {{ directives {{ name locations isRepeatable args {{ name }} }} description }}",
)


@dataclass(slots=True)
class Operation:
    """A request: a document, the operation's name and the variables. `features` are the classes of
    features that it has."""

    text: str
    name: str | None
    variables: dict[str, Any] | None
    features: set[str] = field(default_factory=set)


def new_operation(draw: Draw, world: World) -> Operation:
    return _Writer(draw, world).write()


class _Writer:
    def __init__(self, draw: Draw, world: World) -> None:
        self.draw, self.world = draw, world
        self.wrong = draw.chance(6)  # whether some variables get wrong values
        self.budget = 6 + draw.below(12)
        self.names: dict[tuple[str, str, str], str] = {}
        self.taken: set[str] = set()
        self.variables: list[str] = []
        self.values: dict[str, Any] = {}
        self.switches: dict[str, str] = {}
        self.parts = 0
        self.fragments: list[str] = []
        self.usable: dict[str, str] = {}
        self.features: set[str] = set()

    def write(self) -> Operation:
        draw = self.draw
        change = draw.chance(12)
        root = "Mutation" if change else "Query"
        body = self._selections(root, 4, top=True)
        named = draw.chance(50)
        several = draw.chance(8)
        name = "Main" if named or several else None
        variables = f"({', '.join(self.variables)})" if self.variables else ""
        keyword = "mutation" if change else "query"
        short = not (change or variables or name)
        text = body if short else f"{keyword} {name or ''}{variables} {body}"
        parts = [text, *self.fragments]
        if several:
            parts.insert(draw.below(2), "query Other { __typename }")
            self.features.add("several operations")
        if change:
            self.features.add("mutation operations")
        if self.variables:
            self.features.add("variables")
        sent = name if several or (named and draw.chance(50)) else None
        values = self.values or draw.pick((None, {}))
        return Operation("\n".join(parts), sent, values, self.features)

    def _selections(self, type_name: str, depth: int, *, top: bool = False) -> str:
        """Returns a selection set on a type."""
        draw, world = self.draw, self.world
        fields = world.fields(type_name)
        written: list[str] = []
        chosen: list[Field] = []
        if not fields or draw.chance(12):
            written.append(self._typename())
        count = 1 + draw.below(4) if fields else 0
        for _ in range(count):
            if self.budget <= 0 and written:
                break
            choices = fields if depth > 0 else [f for f in fields if world.leaf(f.type.name)]
            if not choices:
                written.append(self._typename())
                break
            picked = draw.pick(chosen) if chosen and draw.chance(20) else draw.pick(choices)
            if picked in chosen:
                self.features.add("merged fields")
            chosen.append(picked)
            written.append(self._field(picked, depth))
        if draw.chance(35 if type_name in world.objects else 75) and self.budget > 0:
            written.append(self._fragment(type_name, depth))
            if draw.chance(40):
                written.append(self._fragment(type_name, depth))
        if top and type_name == "Query" and draw.chance(7):
            self.features.add("introspection")
            for n in range(1 + draw.below(2)):
                written.append(draw.pick(INTROSPECTION).format(f"meta{n}"))
        if not top and draw.chance(15):
            written.reverse()
        return "{ " + " ".join(written) + " }"

    def _typename(self) -> str:
        self.features.add("__typename")
        return self.draw.pick(("__typename", "kind: __typename")) + self._directive()

    def _field(self, field: Field, depth: int) -> str:
        self.budget -= 1
        arguments = self._arguments(field.args)
        name = camel(field.name)
        key = (name, str(field.type), arguments)
        response = self.names.get(key)
        if response is None:
            response = name
            if name in self.taken or self.draw.chance(15):
                response = f"{self.draw.pick(('alias', 'f'))}{len(self.names)}z"
                self.features.add("aliases")
            self.taken.add(response)
            self.names[key] = response
        shown = name if response == name else f"{response}: {name}"
        text = f"{shown}{arguments}{self._directive()}"
        if not self.world.leaf(field.type.name):
            text += " " + self._selections(field.type.name, depth - 1)
        return text

    def _fragment(self, type_name: str, depth: int) -> str:
        draw, world = self.draw, self.world
        mine = set(world.possible(type_name))
        if type_name in ("Query", "Mutation"):
            overlapping = [type_name]
        else:
            overlapping = [type_name] + [
                name
                for name in (*world.objects, *world.abstracts)
                if name != type_name and mine & set(world.possible(name))
            ]
        on = draw.pick(overlapping)
        if on in world.abstracts or type_name in world.abstracts:
            self.features.add("abstract fragments")
        if draw.chance(35):
            self.features.add("named fragments")
            name = self.usable.get(on)
            if name is None or draw.chance(60):
                self.parts += 1
                name = f"Part{self.parts}"
                body = self._selections(on, depth - 1)
                self.fragments.append(f"fragment {name} on {on} {body}")
                self.usable[on] = name
            return f"...{name}{self._directive()}"
        self.features.add("inline fragments")
        if on == type_name and draw.chance(40):
            return f"... {self._directive()} {self._selections(on, depth - 1)}"
        return f"... on {on}{self._directive()} {self._selections(on, depth - 1)}"

    def _directive(self) -> str:
        draw = self.draw
        if not draw.chance(12):
            return ""
        first = draw.pick(("include", "skip"))
        names = [first] if draw.chance(85) else [first, "skip" if first == "include" else "include"]
        return "".join(f" @{name}(if: {self._condition()})" for name in names)

    def _condition(self) -> str:
        draw = self.draw
        if draw.chance(35):
            self.features.add("skip and include by literals")
            return draw.pick(("true", "false"))
        self.features.add("skip and include by variables")
        if self.switches and draw.chance(50):
            return draw.pick(list(self.switches))
        name = f"b{len(self.switches)}"
        kind = draw.below(4)
        if kind == 3:
            self.variables.append(f"${name}: Boolean = {draw.pick(('true', 'false'))}")
            if draw.chance(50):
                self.values[name] = draw.chance(50)
            elif draw.chance(15):
                self.values[name] = None  # valid, because of the default, but an error when used
        else:
            self.variables.append(f"${name}: Boolean!")
            self.values[name] = draw.chance(60)
            if self.wrong and draw.chance(40):
                self._spoil(name, Ref("!", "Boolean"))
        self.switches[f"${name}"] = name
        return f"${name}"

    def _arguments(self, arguments: list[Argument]) -> str:
        draw = self.draw
        given = []
        for argument in arguments:
            optional = argument.default is not ABSENT or not argument.type.required
            if optional and draw.chance(30):
                continue
            given.append(f"{camel(argument.name)}: {self._value(argument.type, optional)}")
        return f"({', '.join(given)})" if given else ""

    def _value(self, type_: Ref, optional: bool, depth: int = 0) -> str:
        """Returns a variable, or a literal that may have variables in it."""
        draw, world = self.draw, self.world
        if draw.chance(45 if not depth else 20):
            return self._variable(type_, optional)
        bare = type_.inner if type_.required else type_
        if depth < 2 and bare.wraps and draw.chance(50):
            items = [self._value(bare.inner, False, depth + 1) for _ in range(draw.below(3))]
            return f"[{', '.join(items)}]"
        if depth < 2 and not bare.wraps and bare.name in world.inputs:
            given = []
            for argument in world.inputs[bare.name]:
                may = argument.default is not ABSENT or not argument.type.required
                if may and draw.chance(30):
                    continue
                given.append(
                    f"{camel(argument.name)}: {self._value(argument.type, may, depth + 1)}"
                )
            return "{" + ", ".join(given) + "}"
        return literal(input_value(draw, type_, world), type_, world)

    def _variable(self, type_: Ref, optional: bool) -> str:
        draw, world = self.draw, self.world
        name = f"v{len(self.variables)}"
        default = ""
        declared = type_
        if not type_.required and draw.chance(40):
            declared = Ref("!" + type_.wraps, type_.name)
        elif type_.required and optional and draw.chance(40):
            declared = type_.inner  # the position has a default
        if draw.chance(25):
            value = input_value(
                draw,
                Ref("!" + declared.wraps, declared.name) if not declared.required else declared,
                world,
            )
            default = f" = {literal(value, declared, world)}"
            if declared.required and draw.chance(50):
                declared = declared.inner  # the variable has one
        self.variables.append(f"${name}: {declared}{default}")
        absent = default or not declared.required
        if not (absent and draw.chance(30)):
            self.values[name] = input_value(draw, declared, world)
        if self.wrong and draw.chance(60):
            self._spoil(name, declared)
        return f"${name}"

    def _spoil(self, name: str, type_: Ref) -> None:
        self.features.add("wrong variables sent")
        if type_.required and self.draw.chance(25):
            self.values.pop(name, None)
        else:
            self.values[name] = input_value(self.draw, type_, self.world, wrong=True)


def literal(value: Any, type_: Ref, world: World) -> str:
    """Returns a client's value as a literal."""
    if value is None:
        return "null"
    if isinstance(value, EnumName):
        return str(value)
    if isinstance(value, list):
        return "[" + ", ".join(literal(v, type_, world) for v in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {literal(v, type_, world)}" for k, v in value.items()) + "}"
    return json.dumps(value)


def plain_values(value: Any) -> Any:
    """Returns the values as JSON has them: enum values are strings."""
    if isinstance(value, EnumName):
        return str(value)
    if isinstance(value, list):
        return [plain_values(v) for v in value]
    if isinstance(value, dict):
        return {k: plain_values(v) for k, v in value.items()}
    return value
