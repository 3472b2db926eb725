"""Random operations on the schema: depth, aliases, fragments, variables, directives."""

import random
from dataclasses import dataclass, field
from typing import Any, cast

from graphql import (
    GraphQLEnumType,
    GraphQLField,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    is_abstract_type,
    is_leaf_type,
)
from graphql import get_named_type as named_type

SIZES = (1, 2, 5, 20, 100)
WORDS = ("a", "the", "of", "in", "python", "red", "pin", "design", "moutnain", "s", "open source")
"""Texts that are searched for."""


@dataclass
class Drawn:
    """A document under construction, and the values of its variables."""

    schema: GraphQLSchema
    drawing: random.Random
    ids: dict[str, list[str]]
    """Ids of existing objects, by the type's name."""
    fragments: list[str] = field(default_factory=list)
    declared: list[str] = field(default_factory=list)
    variables: dict[str, Any] = field(default_factory=dict)
    aliases: int = 0

    def query(self) -> str:
        """The document of one query."""
        root = self.schema.query_type
        assert root is not None
        fields = self.selection(root, self.drawing.randint(2, 6), 1.0)
        declared = f"({', '.join(self.declared)})" if self.declared else ""
        return "\n".join([f"query{declared} {fields}", *self.fragments])

    def variable(self, type_: str, value: Any, default: str = "") -> str:
        name = f"v{len(self.declared)}"
        self.declared.append(f"${name}: {type_}{default}")
        if not default or self.drawing.random() < 0.5:
            self.variables[name] = value
        return f"${name}"

    def selection(self, type_: GraphQLNamedType, depth: int, width: float) -> str:
        """A selection set. The wider the parents' lists, the fewer fields and the shorter lists it
        has."""
        draw, parts = self.drawing, ["__typename"]
        if is_abstract_type(type_):
            possible = self.schema.get_possible_types(type_)
            for one in draw.sample(list(possible), draw.randint(1, len(possible))):
                parts.append(f"... on {one.name} {self.selection(one, depth, width)}")
            return f"{{ {' '.join(parts)} }}"
        assert isinstance(type_, GraphQLObjectType)
        connection = "edges" in type_.fields
        names = list(type_.fields)
        chosen = draw.sample(names, draw.randint(1, min(len(names), 4)))
        if connection and draw.random() < 0.9 and "edges" not in chosen:
            chosen.append("edges")
        for name in chosen:
            definition = type_.fields[name]
            below = named_type(definition.type)
            if not is_leaf_type(below) and depth <= 0:
                continue
            for copy in range(2 if draw.random() < 0.1 else 1):
                drawn = self.one(name, definition, below, depth, width)
                self.aliases += 1
                alias = f"a{self.aliases}: " if copy or draw.random() < 0.2 else ""
                parts.append(f"{alias}{drawn}")
                if len(drawn) < 300 and draw.random() < 0.2:  # GraphQL merges both
                    parts.append(f"... on {type_.name} {{ {alias}{drawn} }}")
        body = f"{{ {' '.join(parts)} }}"
        if draw.random() < 0.2:
            self.fragments.append(f"fragment F{len(self.fragments)} on {type_.name} {body}")
            return f"{{ ...F{len(self.fragments) - 1} }}"
        return body

    def one(
        self,
        name: str,
        definition: GraphQLField,
        below: GraphQLNamedType,
        depth: int,
        width: float,
    ) -> str:
        draw, arguments = self.drawing, list[str]()
        if "first" in definition.args:
            size = draw.choice([size for size in SIZES if size * width <= 2_000] or [1])
            given = draw.random()
            if "last" in definition.args and draw.random() < 0.2:
                literal = draw.random() < 0.5
                arguments.append(f"last: {size if literal else self.variable('Int', size)}")
                width *= size
            elif given < 0.4 or width * 25 > 2_000:
                arguments.append(f"first: {size}")
                width *= size
            elif given < 0.6:
                arguments.append(f"first: {self.variable('Int!', size)}")
                width *= size
            elif given < 0.8:
                arguments.append(f"first: {self.variable('Int', size, ' = 3')}")
                width *= max(size, 3)
            else:
                width *= 25
        if "orderBy" in definition.args and draw.random() < 0.4:
            enum = cast(GraphQLEnumType, named_type(definition.args["orderBy"].type))
            order = draw.choice(list(enum.values))
            literal = draw.random() < 0.5
            arguments.append(f"orderBy: {order if literal else self.variable(enum.name, order)}")
        for argument in ("text", "prefix"):
            if argument in definition.args:
                text = draw.choice(WORDS)
                literal = draw.random() < 0.5
                given_text = f'"{text}"' if literal else self.variable("String!", text)
                arguments.append(f"{argument}: {given_text}")
        if "types" in definition.args and draw.random() < 0.4:
            types = draw.sample(["PIN", "BOARD", "USER"], draw.randint(1, 3))
            arguments.append(f"types: [{', '.join(types)}]")
        for argument in ("id", "ids"):
            if argument in definition.args:
                arguments.append(f"{argument}: {self.ids_of(argument, below)}")
        directive = ""
        if draw.random() < 0.1:
            flag = self.variable("Boolean!", draw.random() < 0.7)
            directive = f" @{draw.choice(['include', 'skip'])}(if: {flag})"
        listed = f"({', '.join(arguments)})" if arguments else ""
        selected = "" if is_leaf_type(below) else " " + self.selection(below, depth - 1, width)
        return f"{name}{listed}{directive}{selected}"

    def ids_of(self, argument: str, below: GraphQLNamedType) -> str:
        draw = self.drawing
        some = self.ids.get(below.name) or [id for ids in self.ids.values() for id in ids]
        if argument == "id":
            id = draw.choice(some)
            return f'"{id}"' if draw.random() < 0.5 else self.variable("ID!", id)
        ids = [draw.choice(some) for _ in range(draw.choice((1, 5, 100)))]
        if draw.random() < 0.5:
            return "[" + ", ".join(f'"{id}"' for id in ids) + "]"
        return self.variable("[ID!]!", ids)
