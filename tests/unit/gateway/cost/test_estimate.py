"""The estimated cost of operations, by hand-worked examples."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from graphql import (
    GraphQLSchema,
    OperationDefinitionNode,
    build_schema,
    get_introspection_query,
    parse,
)

from gateway.cost.estimate import Estimate, Rules, estimate_of
from gateway.cost.program import Amount
from gateway.cost.rules import ERROR
from gateway.settings import Settings
from schema import schema

ROOT = Path(__file__).parents[4]
SAMPLES = sorted((ROOT / "gateway" / "samples").glob("*.graphql"))
RULES = Rules(schema._schema)


def estimate(text: str) -> Estimate:
    document = parse(text)
    [operation] = [d for d in document.definitions if isinstance(d, OperationDefinitionNode)]
    return estimate_of(RULES, document, operation)


def rows(text: str, **variables: Any) -> float:
    return round(estimate(text).amount(variables).rows, 6)


def board(size: int) -> float:
    """The cost of a page of a board's pins with their titles: data, board, connection, places,
    edges, pins."""
    return round(1 + 2 + 1 + 2 + (size + 1) * 6 + size * 2.1, 6)


PINS = "edges { node { title } }"


def test_a_page_costs_what_it_reads_and_makes() -> None:
    found = estimate(f'{{ board(id: "1") {{ pins(first: 25) {{ {PINS} }} }} }}')
    assert found.amount(None) == Amount(pytest.approx(board(25)), 18.0)
    assert found.cost(None) == 233


@pytest.mark.parametrize(
    ("argument", "variables", "size"),
    [
        ("", {}, 25),
        ("(first: null)", {}, 25),
        ("(first: 3)", {}, 3),
        ("(first: 1000000)", {}, 100),
        ("(first: 99999999999999999999)", {}, 100),
        ("(first: -5)", {}, 1),  # it fails, which is not cheaper
        ("(first: $n)", {"n": 7}, 7),
        ("(first: $n)", {"n": None}, 25),
        ("(first: $n)", {}, 25),
        ("(first: $n)", {"n": 10**9}, 100),
        ("(first: $n)", {"n": "many"}, 100),
        ("(first: $m)", {}, 4),
        ("(first: $m)", {"m": 9}, 9),
    ],
)
def test_the_slicing_argument_says_how_long_a_page_is(
    argument: str, variables: dict[str, Any], size: int
) -> None:
    text = (
        "query($id: ID!, $n: Int, $m: Int = 4) "
        f"{{ board(id: $id) {{ pins{argument} {{ {PINS} }} }} }}"
    )
    assert rows(text, **variables) == board(size)


def test_a_page_is_read_whatever_is_selected_of_it() -> None:
    text = '{ board(id: "1") { pins(first: 100) { pageInfo { hasNextPage } } } }'
    assert rows(text) >= 101 * 6


def test_lists_within_lists_multiply() -> None:
    inner = rows("{ users(first: 1) { edges { node { boards(first: 10) { __typename } } } } }")
    outer = rows("{ users(first: 10) { edges { node { boards(first: 10) { __typename } } } } }")
    alone = rows("{ users(first: 1) { edges { node { __typename } } } }")
    ten = rows("{ users(first: 10) { edges { node { __typename } } } }")
    below = inner - alone + 0.1
    assert outer == pytest.approx(ten + 10 * (below - 0.1))


def test_ids_cost_by_their_number_and_an_abstract_type_as_its_dearest() -> None:
    cheap = "... on User { username }"
    dear = "... on Board { pins(first: 50) { edges { node { title } } } }"
    text = "query($ids: [ID!]!) { nodes(ids: $ids) { %s } }"
    one, ten = (rows(text % dear, ids=["1"] * number) for number in (1, 10))
    assert ten > 9 * one
    assert rows(text % (dear + cheap), ids=["1"]) == rows(text % dear, ids=["1"])
    assert rows(text % dear, ids=["1"] * 10**6) == rows(text % dear, ids=["1"] * 100)
    assert rows('{ nodes(ids: ["1", "1"]) { id } }') == rows(text % "id", ids=["1", "1"])


def test_what_is_skipped_costs_nothing() -> None:
    text = "query($v: Boolean!) { viewer { id pins(first: 100) @%s(if: $v) { __typename } } }"
    alone = rows("{ viewer { id } }")
    for directive, kept in (("include", True), ("skip", False)):
        assert rows(text % directive, v=kept) > alone + 500
        assert rows(text % directive, v=not kept) == alone
    never = "{ viewer { id pins(first: 100) @include(if: false) { __typename } } }"
    assert rows(never) == alone


def test_a_toll_is_bounded_but_is_no_work() -> None:
    signing = 'signUp(input: {username: "ann"}) { user { id } }'
    cost, work = estimate(f"mutation {{ {signing} }}").costs(None)
    assert cost - work == 30_000
    assert work < 100
    assert estimate(f"mutation {{ {signing} b: {signing} }}").cost(None) > 60_000
    again = 'b: signUp(input: {username: "bob"}) @skip(if: $v) { user { id } }'
    maybe = estimate(f"mutation($v: Boolean!) {{ {signing} {again} }}")
    for skips, tolls in ((True, 1), (False, 2)):
        cost, work = maybe.costs({"v": skips})
        assert cost - work == 30_000 * tolls
    never = estimate("{ users { edges { node { id } } } }")
    assert never.costs(None) == (never.cost(None),) * 2


def test_a_fragment_counts_at_each_place_and_once_at_each() -> None:
    fragment = "fragment F on User { boards(first: 5) { __typename } }"
    plain = rows("{ viewer { boards(first: 5) { __typename } } }")
    assert rows("{ viewer { ...F } } " + fragment) == plain
    assert rows("{ viewer { ...F ...F } } " + fragment) == plain
    assert rows("{ a: viewer { ...F } b: viewer { ...F } } " + fragment) == pytest.approx(
        2 * plain - 1
    )


@pytest.mark.parametrize(
    "selected",
    [
        "pins(first: 9) { %s pageInfo { hasNextPage } }",
        "pins(first: 9) { %s } pins(first: 9) { pageInfo { hasNextPage } }",
        "pins(first: 9) { %s } ... { pins(first: 9) { pageInfo { hasNextPage } } }",
        "pins(first: 9) { %s } ... on Board { pins(first: 9) { pageInfo { hasNextPage } } }",
        "pins(first: 9) { %s ...G } ...H ...I pins(first: 9) { edges { node { title } } }",
        "pins(first: 9) { ...G edges { node { title } } %s edges { node { title } } }",
        "...H ...H pins(first: 9) { %s pageInfo { hasNextPage } pageInfo { hasNextPage } }",
    ],
)
def test_a_merged_field_costs_once(selected: str) -> None:
    fragments = """
        fragment G on PinConnection { pageInfo { hasNextPage } }
        fragment H on Board { pins(first: 9) { edges { node { title } } } ...I }
        fragment I on Board { pins(first: 9) { ...G edges { node { title } } } }
    """
    once = f'{{ board(id: "1") {{ pins(first: 9) {{ {PINS} pageInfo {{ hasNextPage }} }} }} }}'
    for page in (PINS, "edges { node { ... on Pin { title } } node { title } }"):
        text = f'{{ board(id: "1") {{ {selected % page} }} }}'
        found = estimate(text + (fragments if "..." in selected.replace("... ", "") else ""))
        assert found.amount(None) == estimate(once).amount(None)


def test_a_field_merged_at_the_root_costs_its_calls_and_its_toll_once() -> None:
    once = estimate('{ board(id: "1") { name owner { username } } }').amount(None)
    twice = '{ board(id: "1") { name } ...F } fragment F on Query { board(id: "1") { %s } }'
    assert estimate(twice % "owner { username }").amount(None) == once
    signing = 'signUp(input: {username: "ann"}) { %s }'
    mutation = f"mutation {{ {signing % 'token'} {signing % 'user { id }'} }}"
    cost, work = estimate(mutation).costs(None)
    assert cost - work == 30_000


def test_a_field_that_may_be_skipped_costs_by_itself() -> None:
    text = (
        "query($v: Boolean!) { viewer { boards(first: 5) { __typename } "
        "boards(first: 5) @include(if: $v) { pageInfo { hasNextPage } } } }"
    )
    plain = rows("{ viewer { boards(first: 5) { __typename } } }")
    merged = rows("{ viewer { boards(first: 5) { __typename pageInfo { hasNextPage } } } }")
    assert rows(text, v=False) == plain
    assert rows(text, v=True) >= merged


def test_merged_fields_of_fragments_that_fan_out_are_worked_out_once_each() -> None:
    depth = 14
    links = "\n".join(
        f"fragment F{n} on Pin {{ board {{ owner {{ ...G{n} }} }} "
        f"board {{ owner {{ ...G{n} }} }} }} "
        f"fragment G{n} on User {{ a: pins(first: 1) {{ edges {{ node {{ ...F{n + 1} }} }} }} "
        f"a: pins(first: 1) {{ edges {{ node {{ id ...F{n + 1} }} }} }} }}"
        for n in range(depth)
    )
    text = f"{{ viewer {{ ...G0 }} }} {links} fragment F{depth} on Pin {{ id }}"
    assert rows(text) < 10_000


def test_values_of_an_input_cost_by_their_number() -> None:
    text = "mutation($input: ReorderPinsInput!) { reorderPins(input: $input) { board { id } } }"
    few = rows(text, input={"boardId": "1", "pinIds": ["1"] * 10})
    many = rows(text, input={"boardId": "1", "pinIds": ["1"] * 10_000})
    assert many - few == pytest.approx(9_990)
    inline = 'mutation { reorderPins(input: {boardId: "1", pinIds: ["1", "2"]}) { board { id } } }'
    assert few - rows(inline) == pytest.approx(8)


def test_fragments_that_fan_out_are_worked_out_once_each() -> None:
    depth = 50
    text = "query($n: Int) { board(id: 1) { ...F0 } } " + " ".join(
        f"fragment F{n} on Board {{ a: cover {{ board {{ ...F{n + 1} }} }} "
        f"b: cover {{ board {{ ...F{n + 1} }} }} }}"
        for n in range(depth)
    )
    text += f" fragment F{depth} on Board {{ pins(first: $n) {{ __typename }} }}"
    found = estimate(text)
    assert len(found._program._lines) <= 6 * depth
    assert found.cost({"n": 1}) == 10**15


def test_a_document_without_variables_in_its_lists_is_a_constant() -> None:
    text = f"query($id: ID!) {{ board(id: $id) {{ pins(first: 9) {{ {PINS} }} }} }}"
    assert estimate(text)._program._lines == []


def test_a_schema_without_directives_costs_what_is_made() -> None:
    other: GraphQLSchema = build_schema("type Query { a: [Query!]! n: Int }")
    document = parse("{ a { a { n } } n }")
    operation: Any = document.definitions[0]
    assert estimate_of(Rules(other), document, operation).amount({}).rows == pytest.approx(3.2)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_our_samples_stay_far_below_the_bound(sample: Path) -> None:
    variables = orjson.loads(sample.with_suffix(".json").read_bytes())
    assert estimate(sample.read_text()).cost(variables) < Settings().limits.max_cost / 6


def test_introspection_costs_by_the_length_of_the_schemas_lists() -> None:
    full = rows(get_introspection_query())
    assert full < Settings().limits.max_cost / 5
    types = "__schema { types { name } }"
    assert rows(f"{{ {types} }}") < full / 5
    assert rows(f"{{ a: {types} b: {types} }}") == pytest.approx(2 * rows(f"{{ {types} }}") - 1)
    assert rows("{ __typename }") < 2


USERS = "{{ users(first: 100) {{ edges {{ node {{ {} }} }} }} }}"


@pytest.mark.parametrize("size", ["0", "-1", "-99999"])
@pytest.mark.parametrize("field", ["followers", "pins", "likedPins", "boards"])
def test_a_page_that_fails_is_not_cheaper_than_a_page_of_one_entry(field: str, size: str) -> None:
    failing = rows(USERS.format(f"{field}(first: {size}) {{ edges {{ cursor }} }}"))
    assert failing == rows(USERS.format(f"{field}(first: 1) {{ edges {{ cursor }} }}"))
    errors = failing - rows(USERS.format("id"))
    assert errors >= 100 * ERROR
    text = f"query ($n: Int) {USERS.format(f'{field}(first: $n) {{ edges {{ cursor }} }}')}"
    assert rows(text, n=int(size)) == failing


def test_a_value_or_a_list_with_arguments_costs_an_error() -> None:
    other: GraphQLSchema = build_schema(
        "type Query { a(b: Int): Int  c(b: Int): [Query!]  d: Int  e: [Query!] }"
    )

    def cost(text: str) -> float:
        document: Any = parse(text)
        estimate = estimate_of(Rules(other), document, document.definitions[0])
        return round(estimate.amount({}).rows, 6)

    assert cost("{ a(b: 1) }") == pytest.approx(cost("{ d }") + ERROR)
    assert cost("{ c(b: 1) { d } }") == pytest.approx(cost("{ e { d } }") + ERROR)


def test_long_names_cost_as_often_as_the_response_has_them() -> None:
    short, long = USERS.format("a: id"), USERS.format(f"{'a' * 232}: id")
    assert rows(long) == pytest.approx(rows(short) + 100)
    assert rows(USERS.format(f"{'a' * 32}: id")) == rows(short)
    for text in (
        "{{ {}: __typename }}",
        "{{ {}: __schema {{ description }} }}",
        "{{ {}: viewer {{ id }} }}",
    ):
        assert rows(text.format("a" * 232)) == pytest.approx(rows(text.format("a")) + 1)
    types = "{{ __schema {{ types {{ {}: name }} }} }}"
    count = len(schema._schema.type_map)
    assert rows(types.format("a" * 232)) == pytest.approx(rows(types.format("a")) + count)
