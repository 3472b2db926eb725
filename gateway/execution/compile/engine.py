"""Compiles operations of one schema."""

from __future__ import annotations

from graphql import DocumentNode, GraphQLSchema, OperationDefinitionNode, assert_valid_schema

from gateway.cost.estimate import Estimate, Rules, estimate_of
from gateway.execution.aside import Aside
from gateway.execution.compile.plan import Outcome, Plan, free_of_charge
from gateway.execution.compile.variant import Charge


class Engine:
    """Any valid schema of graphql-core's, strawberry's among them."""

    def __init__(self, schema: GraphQLSchema) -> None:
        assert_valid_schema(schema)
        extensions = getattr(getattr(schema, "_strawberry_schema", None), "extensions", ())
        if extensions:
            names = ", ".join(getattr(each, "__name__", repr(each)) for each in extensions)
            raise ValueError(
                f"strawberry.Schema(extensions=[{names}]): this executor runs no schema extensions,"
                " and would leave them out without a word. Use extensions of fields, or a directive"
            )
        self._schema = schema
        self._rules = Rules(schema)
        self.aside = Aside()
        """The thread for long work."""
        self.fallbacks = 0
        """The number of requests that graphql-core ran."""

    def compile(
        self,
        document: DocumentNode,
        operation_name: str | None = None,
        *,
        selections: int = 0,
        charge: Charge = free_of_charge,
    ) -> Plan:
        """The plan of one operation of a valid document. An operation that can't be compiled still
        runs.

        `selections` is about how many selections it has, with its fragments where they are spread.
        `charge` is told the bytes that are taken (or given back), whenever something is compiled.
        """
        return Plan(
            self._schema,
            document,
            operation_name,
            aside=self.aside,
            fell_back=self._fell_back,
            selections=selections,
            charge=charge,
        )

    def _fell_back(self) -> None:
        self.fallbacks += 1

    def estimate(self, document: DocumentNode, operation: OperationDefinitionNode) -> Estimate:
        """The estimated cost of an operation of a valid document."""
        return estimate_of(self._rules, document, operation)


__all__ = ["Engine", "Outcome", "Plan"]
