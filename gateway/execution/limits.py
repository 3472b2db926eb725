"""Bounds on a document: what its operations may nest, select, alias, and how much text it may have.

Everything is counted in time linear in the document, before it is validated: each definition is
walked once, and a fragment's counts are added up once, however often the fragment is spread. So a
document of a few hundred bytes whose fragments fan out into millions of fields is refused at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    Node,
    OperationDefinitionNode,
    SelectionSetNode,
)

MOST = 10**15
"""Counts stop here: fragments that fan out multiply without end."""
INTROSPECTION = ("__schema", "__type")


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds, each a setting; `length` is in characters, the others are counts."""

    length: int
    tokens: int
    operations: int
    depth: int
    selections: int
    root_fields: int
    aliases: int
    directives: int
    introspection: bool = True
    """Whether `__schema` and `__type` may be asked."""


@dataclass(slots=True)
class Measured:
    """The counts of a document."""

    operations: list[tuple[OperationDefinitionNode, "_Counts"]]
    directives: int
    introspection: FieldNode | None
    """A field that asks for the schema, if there is one."""

    @property
    def selections(self) -> dict[str | None, int]:
        """By operation: its selections, with its fragments where they are spread."""
        return {
            node.name.value if node.name else None: counts.selections
            for node, counts in self.operations
        }

    def errors(self, limits: Limits) -> list[GraphQLError]:
        """An error for each bound that the document exceeds, or else the first operation that
        exceeds one, with the count and the bound."""
        hidden = self.introspection
        if hidden is not None and not limits.introspection:
            message = f"'{hidden.name.value}' can't be asked: introspection is switched off."
            return [GraphQLError(message, hidden)]
        errors: list[GraphQLError] = []
        for message, count, most in (
            ("The document has {} operations", len(self.operations), limits.operations),
            ("The document has {} directives", self.directives, limits.directives),
        ):
            if count > most:
                errors.append(_exceeds(message, count, most))
        if errors:
            return errors
        for node, counts in self.operations:
            for message, count, most in (
                ("The operation nests fields {} deep", counts.depth, limits.depth),
                (
                    "The operation has {} selections, with its fragments where they are spread",
                    counts.selections,
                    limits.selections,
                ),
                ("The operation has {} root fields", counts.roots, limits.root_fields),
                (
                    "The operation has {} aliases, with its fragments where they are spread",
                    counts.aliases,
                    limits.aliases,
                ),
            ):
                if count > most:
                    errors.append(_exceeds(message, count, most, node))
            if errors:
                break  # each error looks for its line in the text, from the start
        return errors


def measured(document: DocumentNode) -> Measured:
    """The counts of a document, which may be invalid: unknown fragments and cycles of fragments
    count as empty, and are left to validation."""
    found = Measured([], 0, None)
    fragments: dict[str, _Counts] = {}
    for definition in document.definitions:
        if not isinstance(definition, OperationDefinitionNode | FragmentDefinitionNode):
            continue
        counts = _counted(definition.selection_set)
        found.directives += counts.directives + len(definition.directives or ())
        for variable in definition.variable_definitions or ():
            found.directives += len(variable.directives or ())
        found.introspection = found.introspection or counts.introspection
        if isinstance(definition, OperationDefinitionNode):
            found.operations.append((definition, counts))
        else:
            fragments[definition.name.value] = counts
    _add_up(fragments)
    for _, counts in found.operations:
        counts.add_spreads(fragments)
    return found


def _exceeds(message: str, count: int, most: int, node: Node | None = None) -> GraphQLError:
    number = f"{count:,}" if count < MOST else f"{MOST:,} or more"
    return GraphQLError(f"{message.format(number)}: at most {most:,} are allowed.", node)


@dataclass(slots=True)
class _Counts:
    """The counts of an operation's or a fragment's selection set."""

    selections: int = 0
    aliases: int = 0
    roots: int = 0
    """Fields at its own level."""
    depth: int = 0
    """How deep fields nest; introspection is free."""
    directives: int = 0
    introspection: FieldNode | None = None
    spreads: list["_Spread"] = field(default_factory=list)

    def add_spreads(self, fragments: dict[str, "_Counts"]) -> None:
        """Add the fragments that it spreads, whose own counts are complete."""
        for spread in self.spreads:
            inner = fragments.get(spread.name)
            if inner is None:
                continue
            self.selections = min(self.selections + inner.selections, MOST)
            self.aliases = min(self.aliases + inner.aliases, MOST)
            if spread.at_root:
                self.roots = min(self.roots + inner.roots, MOST)
            if spread.depth is not None:
                self.depth = max(self.depth, spread.depth + inner.depth)


@dataclass(frozen=True, slots=True)
class _Spread:
    name: str
    at_root: bool
    depth: int | None
    """Fields above it; None below a field of introspection."""


def _counted(selection_set: SelectionSetNode) -> _Counts:
    """The counts of a selection set without the fragments it spreads."""
    counts = _Counts()
    left: list[tuple[SelectionSetNode, bool, int | None]] = [(selection_set, True, 0)]
    while left:
        selections, at_root, depth = left.pop()
        for node in selections.selections:
            counts.selections += 1
            counts.directives += len(node.directives or ())
            if isinstance(node, FieldNode):
                below = depth
                name = node.name.value
                if node.alias is not None:
                    counts.aliases += 1
                if at_root:
                    counts.roots += 1
                if name.startswith("__"):
                    below = None
                    if name in INTROSPECTION and counts.introspection is None:
                        counts.introspection = node
                elif depth is not None:
                    below = depth + 1
                    counts.depth = max(counts.depth, below)
                if node.selection_set is not None:
                    left.append((node.selection_set, False, below))
            elif isinstance(node, FragmentSpreadNode):
                counts.spreads.append(_Spread(node.name.value, at_root, depth))
            else:
                left.append((node.selection_set, at_root, depth))  # type: ignore[attr-defined]
    return counts


def _add_up(fragments: dict[str, _Counts]) -> None:
    """Complete the counts of all fragments, the innermost first, without recursion."""
    done: set[str] = set()
    for root in fragments:
        if root in done:
            continue
        path: list[tuple[str, Iterator[_Spread]]] = [(root, iter(fragments[root].spreads))]
        begun = {root}
        while path:
            name, spreads = path[-1]
            for spread in spreads:
                inner = spread.name
                if inner in fragments and inner not in done and inner not in begun:
                    path.append((inner, iter(fragments[inner].spreads)))
                    begun.add(inner)
                    break
            else:
                path.pop()
                fragments[name].add_spreads(fragments)
                done.add(name)
