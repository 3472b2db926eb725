"""The rule for merging fields accepts the same documents as graphql-core's rule."""

import random

import pytest
from graphql import (
    OverlappingFieldsCanBeMergedRule,
    build_schema,
    parse,
    specified_rules,
    validate,
)

from gateway.documents.field_merging import FieldsMerge
from tests.scale import scaled
from tests.unit.gateway.documents.test_limits import fan_out

SCHEMA = build_schema(
    """
    interface Being {
      name(long: Boolean): String  age: Int  friend: Being  best: Person  all: [Being]
    }
    type Person implements Being {
      name(long: Boolean): String  age: Int!  friend: Person  best: Person!  all: [Person]
      pet: Pet  pets: [Pet!]!  nick: String! home: [Int]
    }
    type Dog implements Being {
      name(long: Boolean): String!  age: Int  friend: Being  best: Person  all: [Being!]
      owner: Person  nick: Int  home: [Int!]
    }
    type Cat implements Being {
      name(long: Boolean): String  age: Int  friend: Cat  best: Person  all: [Being]
      owner: Person!  nick: String  home: Int
    }
    union Pet = Dog | Cat
    type Query { person: Person  being: Being  pet: Pet  dog: Dog  beings(first: Int): [Being] }
    """
)
OTHERS = [rule for rule in specified_rules if rule is not OverlappingFieldsCanBeMergedRule]
FIELDS = {
    "Query": {"person": "Person", "being": "Being", "pet": "Pet", "dog": "Dog", "beings": "Being"},
    "Being": {"name": "", "age": "", "friend": "Being", "best": "Person", "all": "Being"},
    "Person": {
        **{"name": "", "age": "", "nick": "", "home": "", "friend": "Person", "best": "Person"},
        **{"all": "Person", "pet": "Pet", "pets": "Pet"},
    },
    "Dog": {
        **{"name": "", "age": "", "nick": "", "home": "", "friend": "Being", "best": "Person"},
        **{"all": "Being", "owner": "Person"},
    },
    "Cat": {
        **{"name": "", "age": "", "nick": "", "home": "", "friend": "Cat", "best": "Person"},
        **{"all": "Being", "owner": "Person"},
    },
    "Pet": {"__typename": ""},
}
BELOW = {
    "Query": ["Query"],
    "Being": ["Being", "Person", "Dog", "Cat", "Pet"],
    "Pet": ["Pet", "Dog", "Cat", "Being"],
    "Person": ["Person", "Being"],
    "Dog": ["Dog", "Being", "Pet"],
    "Cat": ["Cat", "Being", "Pet"],
}


def document(seed: int) -> str:
    """Returns a random document with few names, so that many fields share a response name. It is
    valid except for conflicts."""
    draw = random.Random(seed)
    fragments: list[tuple[str, str]] = []

    def selections(type_: str, depth: int) -> str:
        parts = []
        for _ in range(draw.randint(1, 3)):
            kind = draw.random()
            if kind < 0.25 and depth:
                inner = draw.choice(BELOW[type_])
                parts.append(f"... on {inner} {selections(inner, depth - 1)}")
            elif kind < 0.4 and fragments:
                fitting = [name for name, on in fragments if on in BELOW[type_]]
                if fitting:
                    parts.append(f"...{draw.choice(fitting)}")
            else:
                parts.append(field(type_, depth))
        return "{ " + (" ".join(parts) or "__typename") + " }"

    def field(type_: str, depth: int) -> str:
        leaves = [name for name, below in FIELDS[type_].items() if not below]
        names = list(FIELDS[type_]) if depth else leaves or ["__typename"]
        name = draw.choice(names)
        below = FIELDS[type_].get(name, "")
        alias = draw.choice(["", "", "", "a: ", "b: "])
        arguments = ""
        if name == "name" and draw.random() < 0.5:
            arguments = f"(long: {draw.choice(['true', 'false'])})"
        elif name == "beings" and draw.random() < 0.5:
            arguments = f"(first: {draw.choice('12')})"
        return f"{alias}{name}{arguments}{selections(below, depth - 1) if below else ''}"

    definitions = []
    for number in range(draw.randint(0, 3)):
        on = draw.choice(["Being", "Person", "Dog", "Cat", "Pet", "Query"])
        definitions.append(f"fragment F{number} on {on} {selections(on, 2)}")
        fragments.append((f"F{number}", on))
    definitions.append(selections("Query", 4))
    return "\n".join(definitions)


def conflicts(text: str) -> tuple[bool, bool]:
    ast = parse(text)
    ours = validate(SCHEMA, ast, [FieldsMerge])
    theirs = validate(SCHEMA, ast, [OverlappingFieldsCanBeMergedRule])
    return bool(ours), bool(theirs)


def test_generated_documents_get_the_same_verdict() -> None:
    ignored = [rule for rule in OTHERS if rule.__name__ != "NoUnusedFragmentsRule"]
    verdicts = []
    for seed in range(scaled(250, 800)):
        text = document(seed)
        if "fragment" in text:  # spread each fragment: this rule ignores unused fragments
            text += "\n" + " ".join(
                f"query Q{n} {{ person {{ best {{ __typename ...F{n} }} }} }}"
                for n in range(text.count("fragment F"))
                if f"fragment F{n} on Person" in text or f"fragment F{n} on Being" in text
            )
        ast = parse(text)
        names = {d.name.value for d in ast.definitions if getattr(d, "name", None)}
        used = all(f"...F{n}" in text for n in range(3) if f"F{n}" in names)
        rules = [rule for rule in ignored if rule.__name__ != "LoneAnonymousOperationRule"]
        if not used or validate(SCHEMA, ast, rules):
            continue
        ours, theirs = conflicts(text)
        assert ours == theirs, text
        verdicts.append(ours)
    least = scaled(15, 50)
    assert least < sum(verdicts) < len(verdicts) - least


@pytest.mark.parametrize(
    ("text", "conflict"),
    [
        ("{ person { name name } }", False),
        ("{ person { name nick: name } dog { nick } }", False),
        ("{ person { name(long: true) name(long: true) } }", False),
        ("{ person { name(long: true) name } }", True),
        ("{ person { a: name a: nick } }", True),
        ("{ pet { ... on Dog { a: nick } ... on Cat { a: age } } }", False),
        ("{ pet { ... on Dog { a: nick } ... on Cat { a: name } } }", True),
        ("{ pet { ... on Dog { a: name } ... on Cat { a: name } } }", True),
        ("{ being { ... on Person { a: age } ... on Dog { a: age } } }", True),
        ("{ being { ... on Dog { name } ... on Cat { name: nick } } }", True),
        ("{ being { best { a: name } ... on Dog { best { a: nick } } } }", True),
        ("{ a: beings(first: 1) { name } a: beings(first: 2) { name } }", True),
        ("{ person { ...F ...F } } fragment F on Person { best { ...G } } "
         "fragment G on Person { a: name }", False),
    ],
)  # fmt: skip
def test_a_conflict_is_found_where_there_is_one(text: str, conflict: bool) -> None:
    assert conflicts(text) == (conflict, conflict)


def test_a_selection_set_that_several_paths_lead_to_is_checked_once() -> None:
    from schema import schema

    ast = parse(fan_out(12))
    rules: list[FieldsMerge] = []

    class Watched(FieldsMerge):
        def __init__(self, context: object) -> None:
            super().__init__(context)  # type: ignore[arg-type]
            rules.append(self)

    assert validate(schema._schema, ast, [Watched]) == []
    assert rules[0]._spent < 1_000


def test_repeated_fields_are_compared_with_the_first_field() -> None:
    rules: list[FieldsMerge] = []

    class Watched(FieldsMerge):
        def __init__(self, context: object) -> None:
            super().__init__(context)  # type: ignore[arg-type]
            rules.append(self)

    text = "{" + "person { best { best { name } } }" * 1_000 + "}"
    assert validate(SCHEMA, parse(text), [Watched]) == []
    assert rules[0]._spent < 20_000
