"""Compares responses in parts (@defer) with graphql-core's incremental execution, and with the same
operation in one part, for generated operations with random deferred fragments."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any, TypeVar
from unittest.mock import patch

from graphql import (
    DocumentNode,
    ExecutionResult,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    OperationDefinitionNode,
    OperationType,
    SelectionSetNode,
    TypeInfo,
    TypeInfoVisitor,
    Visitor,
    get_nullable_type,
    is_list_type,
    parse,
    print_ast,
    visit,
)
from graphql.execution import experimental_execute_incrementally
from graphql.pyutils import is_awaitable

from gateway.execution.model.fragments import ITEMS
from tests.execution import behavior, decorated, plain
from tests.execution.comparing import Difference, Place, leftovers, settled
from tests.execution.drawing import Draw
from tests.execution.operations import new_operation, plain_values

Path = list[str | int]
T = TypeVar("T")


class _Streams(Visitor):
    """Adds random @stream to fields with lists."""

    def __init__(self, draw: Draw, types: TypeInfo) -> None:
        super().__init__()
        self._draw, self._types = draw, types

    def enter_field(self, node: FieldNode, *_: Any) -> Any:
        type_ = self._types.get_type()
        if type_ is None or not is_list_type(get_nullable_type(type_)) or self._draw.chance(30):
            return None
        count = self._draw.below(4)
        added = parse(f"{{ a @stream(initialCount: {count}) }}").definitions[0]
        stream = added.selection_set.selections[0].directives  # type: ignore[attr-defined]
        return replace(node, directives=(*(node.directives or ()), *stream))


class _Inserter:
    """Writes a document with random @defer."""

    def __init__(self, draw: Draw) -> None:
        self._draw, self._labels = draw, 0

    def text(self, document: DocumentNode) -> str:
        return "\n".join(self._definition(each) for each in document.definitions)

    def _definition(self, node: Any) -> str:
        whole = print_ast(node)
        if isinstance(node, OperationDefinitionNode):
            is_root = node.operation is not OperationType.QUERY
        elif isinstance(node, FragmentDefinitionNode):
            is_root = node.type_condition.name.value == "Mutation"
        else:
            return whole
        body = print_ast(node.selection_set)
        assert whole.endswith(body)
        return whole[: -len(body)] + self._set(node.selection_set, is_root)

    def _set(self, selections: SelectionSetNode, is_root: bool) -> str:
        parts = [self._selection(each, is_root) for each in selections.selections]
        if not is_root and self._draw.chance(25):
            start = self._draw.below(len(parts))
            stop = start + 1 + self._draw.below(len(parts) - start)
            wrapped = f"...{self._defer()} {{ {' '.join(parts[start:stop])} }}"
            if self._draw.chance(60):
                del parts[start:stop]
            parts.insert(self._draw.below(len(parts) + 1), wrapped)
        return f"{{ {' '.join(parts)} }}"

    def _selection(self, node: Any, is_root: bool) -> str:
        whole = print_ast(node)
        deferred = self._defer() if not is_root and self._draw.chance(35) else ""
        if isinstance(node, FragmentSpreadNode):
            return whole + deferred
        if node.selection_set is None:
            return whole
        body = print_ast(node.selection_set)
        inner = self._set(node.selection_set, is_root and isinstance(node, InlineFragmentNode))
        head = whole[: -len(body)]
        return head + inner if isinstance(node, FieldNode) else f"{head} {deferred} {inner}"

    def _defer(self) -> str:
        self._labels += 1
        if self._draw.chance(15):
            return " @defer(if: false)"
        return f' @defer(label: "d{self._labels}")' if self._draw.chance(70) else " @defer"


class Merged:
    """The data of all parts so far. No part may take back what an earlier part has said."""

    def __init__(self, data: Any) -> None:
        self.data = data

    def add(self, path: Path, data: Any) -> None:
        at = self.data
        for key in path:
            at = at[key]
        if not isinstance(at, dict):
            raise Difference(f"a part for {path}, which is {at!r}")
        _merge(at, data, path)

    def add_items(self, path: Path, items: list[Any]) -> None:
        """Add the later items of a list. The path is the first of them."""
        at = self.data
        *path, first = path
        for key in path:
            at = at[key]
        if not isinstance(at, list) or len(at) != first:
            raise Difference(f"items from {first} at {path} of {at!r}")
        at += items


def _merge(into: Any, data: Any, path: Path) -> None:
    pairs = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in pairs:
        if isinstance(into, dict) and key not in into:
            into[key] = value
            continue
        own = into[key]
        if isinstance(own, dict | list) and isinstance(value, type(own)):
            if isinstance(own, list) and len(own) != len(value):
                raise Difference(f"lists of different length at {[*path, key]}")
            _merge(own, value, [*path, key])
        elif own != value:
            raise Difference(f"{own!r} became {value!r} at {[*path, key]}")


Errors = Counter[tuple[str, tuple[str | int, ...]]]


def _known(errors: Any) -> Errors:
    return Counter((error.message, tuple(error.path or ())) for error in errors or ())


class Parts:
    """A whole response: the initial data, all data, the errors, the numbers of later parts, of
    parts without data, and of streamed lists."""

    def __init__(self, initial: Any, errors: Any) -> None:
        self.initial = json.dumps(initial, sort_keys=True)
        self.merged, self.errors = Merged(initial), _known(errors)
        self.parts = self.failed = self.streamed = 0

    @property
    def data(self) -> str:
        return json.dumps(self.merged.data, sort_keys=True)


async def of_engine(plan: Any, run: Any, variables: Any) -> Parts:
    outcome = await plan.run(context=run, variables=variables, incremental=True)
    assert outcome.started
    parts = Parts(json.loads(outcome.data), outcome.errors)
    rest = outcome.rest
    if rest is None:
        return parts
    try:
        while rest.has_next:
            for part in await rest.next():
                parts.parts += 1
                parts.errors += _known(part.errors)
                if part.data is None:
                    parts.failed += 1
                    assert part.errors
                elif part.key == ITEMS:
                    items = json.loads(b"".join(part.data))[ITEMS]
                    assert items
                    parts.streamed += 1
                    parts.merged.add_items(part.path, items)
                else:
                    parts.merged.add(part.path, json.loads(b"".join(part.data)))
    finally:
        await rest.close()
    return parts


async def of_core(place: Place, document: DocumentNode, name: Any, run: Any, given: Any) -> Parts:
    result: Any = experimental_execute_incrementally(
        place.schema,
        document,
        context_value=run,
        variable_values=given,
        operation_name=name,
    )
    if is_awaitable(result):
        result = await result
    if isinstance(result, ExecutionResult):
        return Parts(_plain(result.data), result.errors)
    initial = result.initial_result
    parts = Parts(_plain(initial.data), initial.errors)
    paths = {each.id: list(each.path) for each in initial.pending}
    async for more in result.subsequent_results:
        for each in more.pending or ():
            paths[each.id] = list(each.path)
        for each in more.incremental or ():
            parts.errors += _known(each.errors)
            path = [*paths[each.id], *(each.sub_path or ())]
            parts.merged.add(path, _plain(each.data))
        for each in more.completed or ():
            parts.parts += 1
            parts.failed += bool(each.errors)
            parts.errors += _known(each.errors)
    return parts


def _plain(data: Any) -> Any:
    return json.loads(json.dumps(data))


async def compare(
    world: Draw, case: Draw, engine: Any, *, trouble: int | None, streams: bool = False
) -> Counter[str]:
    """Compare one generated operation. `trouble` is the percentage of values that are errors;
    None means the world's own. With `streams`, lists are streamed, too; the parts of an operation
    with errors are not compared then: graphql-core defers fragments inside later items, too.
    Returns what occurred. Raises Difference."""
    place = settled(world, engine)
    place.world.ambient = False  # which context variables a field sees depends on its time, too
    operation = new_operation(case, place.world)
    document = parse(operation.text)
    if streams:
        types = TypeInfo(place.schema)
        document = visit(document, TypeInfoVisitor(types, _Streams(case, types)))
    document = parse(_Inserter(case).text(document))
    name = operation.name
    plan = place.engine.compile(document, name)

    def variables() -> Any:  # a resolver may change them
        return plain_values(operation.variables)

    try:
        # A deferred attribute is read later than in one part: after a resolver overwrites it.
        overwriting = patch.object(behavior, "_overwrite", lambda source, name: None)
        # graphql-core gives resolvers a node twice if it is in two fragments.
        told = [patch.object(each, "seen_in", lambda info: b"") for each in (plain, decorated)]
        with overwriting, told[0], told[1]:
            return await _compared(place, document, plan, variables, name, trouble, streams)
    except Exception as error:
        raise Difference(f"{type(error).__name__}: {error}\n{print_ast(document)}") from error


async def _compared(
    place: Place,
    document: DocumentNode,
    plan: Any,
    variables: Callable[[], Any],
    name: Any,
    trouble: int | None,
    streams: bool,
) -> Counter[str]:
    def start(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        return asyncio.create_task(work)  # a resolver may change the task's context variables

    run = place.run(trouble=trouble, shielded=True)
    whole = await start(plan.run(context=run, variables=variables()))
    await leftovers()
    if not whole.started:
        return Counter({"refused": 1})
    run = place.run(trouble=trouble, shielded=True)
    if streams:
        mine = await start(of_engine(plan, run, variables()))
        if left := await leftovers():
            raise Difference(f"left behind: {left}")
        if not whole.errors and (mine.errors or json.loads(whole.data) != mine.merged.data):
            raise Difference(f"{mine.data}, {mine.errors}, but in one part {whole.data!r}")
        return _seen(mine)
    try:
        core = await start(of_core(place, document, name, run, variables()))
    except (TypeError, ValueError) as error:  # a value that JSON can't represent
        if "JSON" not in str(error) and "keys must be" not in str(error):
            raise
        return Counter({"not to be encoded": 1})
    finally:
        await leftovers()
    mine = await start(of_engine(plan, place.run(trouble=trouble), variables()))
    if left := await leftovers():
        raise Difference(f"left behind: {left}")
    if not whole.errors:
        if json.loads(whole.data) != json.loads(mine.data):
            raise Difference(f"{mine.data}, but in one part {whole.data!r}")
        if mine.errors:
            raise Difference(f"errors {mine.errors}")
    else:
        if mine.initial != core.initial:
            raise Difference(f"initial data {mine.initial}, but graphql-core {core.initial}")
        if mine.data != core.data:
            raise Difference(f"data\n{mine.data}, but graphql-core\n{core.data}")
        known = not (mine.failed or core.failed) and _in_place(core.errors, core.merged.data)
        if known and mine.errors != core.errors:
            raise Difference(f"errors {mine.errors}, but graphql-core {core.errors}")
    return _seen(mine)


def _seen(mine: Parts) -> Counter[str]:
    return Counter(
        {
            "deferred": mine.parts > 0,
            "errors": bool(mine.errors),
            "failed": mine.failed > 0,
            "several parts": mine.parts > 1,
            "streamed": mine.streamed > 0,
        }
    )


def _in_place(errors: Errors, data: Any) -> bool:
    """Whether no error made a parent null."""
    for _, path in errors:
        at = data
        for key in path:
            if at is None:
                return False
            at = at[key]
        if at is not None:
            return False
    return True
