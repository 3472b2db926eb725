"""The limits on documents: the depth, selections, root fields, aliases and directives of an
operation, and the length of the text.

Counting comes before validation and takes time linear in the document: each definition is walked
once, and each fragment's counts are added up once, however often the fragment is spread. A document
of a few hundred bytes whose fragments expand to millions of fields is therefore refused at once.
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

from gateway.cost.introspection import ROOTS

MOST = 10**15
"""The maximum of a count. Nested spreads multiply counts, which would become huge numbers."""
RESPONSE_NAME = 255
"""The maximum length of a response name (an alias, or a field's name), in characters. The response
repeats it in each object, and in the path of each error."""
SHOWN = 60
"""The number of characters of a name that is too long that an error shows."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits, one for each setting. `length` is in characters; all other limits are counts."""

    length: int
    tokens: int
    operations: int
    depth: int
    selections: int
    root_fields: int
    aliases: int
    directives: int
    introspection: bool = True
    """Whether `__schema` and `__type` may be selected."""


@dataclass(slots=True)
class Measured:
    """The counts of a document."""

    operations: list[tuple[OperationDefinitionNode, "_Counts"]]
    directives: int
    introspection: FieldNode | None
    """The first `__schema` or `__type` field, if there is one."""
    long_name: FieldNode | None = None
    """The first field with a response name that is too long, if there is one."""

    @property
    def selections(self) -> dict[str | None, int]:
        """The number of selections of each operation, by name. A fragment's selections count at
        each spread."""
        return {
            node.name.value if node.name else None: counts.selections
            for node, counts in self.operations
        }

    def errors(self, limits: Limits) -> list[GraphQLError]:
        """Returns an error for each limit that the document as a whole exceeds. If there is none,
        returns the errors of the first operation that exceeds a limit."""
        hidden = self.introspection
        if hidden is not None and not limits.introspection:
            message = f"'{hidden.name.value}' can't be selected: introspection is switched off."
            return [GraphQLError(message, hidden)]
        if self.long_name is not None:
            return [_too_long(self.long_name)]
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
                break  # the other operations may have as many errors
        return errors


def measured(document: DocumentNode) -> Measured:
    """Returns the counts of a document that may be invalid. Unknown fragments and cycles of
    fragments count as empty; validation refuses them later."""
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
        found.long_name = found.long_name or counts.long_name
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


def _too_long(node: FieldNode) -> GraphQLError:
    name = (node.alias or node.name).value
    return GraphQLError(
        f"The response name '{name[:SHOWN]}...' has {len(name):,} characters: at most "
        f"{RESPONSE_NAME} are allowed.",
        node,
    )


@dataclass(slots=True)
class _Counts:
    """The counts of an operation's or a fragment's selection set."""

    selections: int = 0
    aliases: int = 0
    roots: int = 0
    """The number of fields at its top level."""
    depth: int = 0
    """The depth of its fields. Introspection fields don't count."""
    directives: int = 0
    introspection: FieldNode | None = None
    long_name: FieldNode | None = None
    spreads: list["_Spread"] = field(default_factory=list)

    def add_spreads(self, fragments: dict[str, "_Counts"]) -> None:
        """Add the counts of the spread fragments, which must be complete."""
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
    """The number of fields above the spread; None below an introspection field."""


def _counted(selection_set: SelectionSetNode) -> _Counts:
    """Returns the counts of a selection set without its spread fragments."""
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
                if len((node.alias or node.name).value) > RESPONSE_NAME:
                    counts.long_name = counts.long_name or node
                if at_root:
                    counts.roots += 1
                if name.startswith("__"):
                    below = None
                    if name in ROOTS and counts.introspection is None:
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
    """Complete the counts of all fragments, the innermost first. The function is not recursive,
    because fragments may nest deeper than Python's stack."""
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
