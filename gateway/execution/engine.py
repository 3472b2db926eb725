"""Compiles operations of one schema."""

from __future__ import annotations

from graphql import DocumentNode, GraphQLSchema, assert_valid_schema

from gateway.execution.plan import Outcome, Plan


class Engine:
    """Any valid schema of graphql-core's, strawberry's among them."""

    def __init__(self, schema: GraphQLSchema) -> None:
        assert_valid_schema(schema)
        self._schema = schema
        self.fallbacks = 0
        """Requests that graphql-core ran."""

    def compile(self, document: DocumentNode, operation_name: str | None = None) -> Plan:
        """The plan of one operation of a valid document. What can't be compiled still runs."""
        return Plan(self, self._schema, document, operation_name)


__all__ = ["Engine", "Outcome", "Plan"]
