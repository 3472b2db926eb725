"""How deep an operation may go, counted in time linear in the document."""

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    OperationDefinitionNode,
    SelectionSetNode,
)


def depth_errors(document: DocumentNode, limit: int) -> list[GraphQLError]:
    """An error for each operation that nests fields deeper than `limit`; introspection is free.

    Each fragment is measured once, so fragments that fan out cost nothing more. The document is
    valid: fragments exist and have no cycles.
    """
    fragments = {
        d.name.value: d for d in document.definitions if isinstance(d, FragmentDefinitionNode)
    }
    known: dict[str, int] = {}

    def depth(selections: SelectionSetNode | None) -> int:
        deepest = 0
        for node in selections.selections if selections else ():
            if isinstance(node, FieldNode):
                if not node.name.value.startswith("__"):
                    deepest = max(deepest, 1 + depth(node.selection_set))
            elif isinstance(node, FragmentSpreadNode):
                name = node.name.value
                if name not in known:
                    known[name] = depth(fragments[name].selection_set)
                deepest = max(deepest, known[name])
            else:
                deepest = max(deepest, depth(node.selection_set))  # type: ignore[attr-defined]
        return deepest

    return [
        GraphQLError(f"The operation nests {found} fields deep: at most {limit} are allowed.", d)
        for d in document.definitions
        if isinstance(d, OperationDefinitionNode) and (found := depth(d.selection_set)) > limit
    ]
