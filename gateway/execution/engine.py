"""Compiles operations of one schema."""

from __future__ import annotations

from graphql import DocumentNode, GraphQLSchema, OperationDefinitionNode, assert_valid_schema

from gateway.cost.estimate import Estimate, Rules, estimate_of
from gateway.execution.plan import Outcome, Plan


class Engine:
    """Any valid schema of graphql-core's, strawberry's among them."""

    def __init__(self, schema: GraphQLSchema) -> None:
        assert_valid_schema(schema)
        self._schema = schema
        self._rules = Rules(schema)
        self.fallbacks = 0
        """Requests that graphql-core ran."""

    def compile(self, document: DocumentNode, operation_name: str | None = None) -> Plan:
        """The plan of one operation of a valid document. What can't be compiled still runs."""
        return Plan(self, self._schema, document, operation_name)

    def estimate(self, document: DocumentNode, operation: OperationDefinitionNode) -> Estimate:
        """What an operation of a valid document costs."""
        return estimate_of(self._rules, document, operation)


__all__ = ["Engine", "Outcome", "Plan"]
