"""Compiles the operations of one schema, and refuses schemas that the executor can't run."""

from __future__ import annotations

from graphql import DocumentNode, GraphQLSchema, assert_valid_schema

from gateway.execution.compile.plan import Outcome, Plan, free_of_charge
from gateway.execution.compile.variant import Charge
from gateway.execution.levels.failures import MOST_ERRORS
from gateway.execution.side_thread import Aside


class Engine:
    """The compiler for one schema: any valid graphql-core schema, including strawberry's.

    Raises ValueError for a strawberry schema with schema extensions.
    """

    def __init__(self, schema: GraphQLSchema, *, most_errors: int = MOST_ERRORS) -> None:
        """`most_errors` is the maximum number of errors of a response; one more tells how many are
        left out."""
        assert_valid_schema(schema)
        extensions = getattr(getattr(schema, "_strawberry_schema", None), "extensions", ())
        if extensions:
            names = ", ".join(getattr(each, "__name__", repr(each)) for each in extensions)
            raise ValueError(
                f"strawberry.Schema(extensions=[{names}]): this executor runs no schema extensions"
                " and would silently ignore them. Use field extensions"
            )
        self._schema, self._most_errors = schema, most_errors
        self.aside = Aside()
        """The thread for long work, such as compiling a large operation."""
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
        """Returns the plan of one operation of a valid document. If the operation can't be
        compiled, its plan runs it with graphql-core.

        `selections` is the approximate number of its selections, where a fragment's selections
        count at each spread. `charge` is called with the number of bytes that were taken (or freed,
        if negative) whenever a part of the operation is compiled or dropped.
        """
        return Plan(
            self._schema,
            document,
            operation_name,
            aside=self.aside,
            fell_back=self._fell_back,
            selections=selections,
            charge=charge,
            most_errors=self._most_errors,
        )

    def _fell_back(self) -> None:
        self.fallbacks += 1


__all__ = ["Engine", "Outcome", "Plan"]
