"""Runs GraphQL operations: parsed and validated once, executed, errors made fit to be seen."""

import strawberry

from gateway.execution.documents import Documents
from gateway.execution.executor import Executor
from gateway.settings import Settings
from schema import schema as our_schema


def new_executor(settings: Settings) -> Executor:
    """Runs operations of our schema within the settings' limits."""
    return executor_of(our_schema, settings)


def executor_of(schema: strawberry.Schema, settings: Settings) -> Executor:
    """Runs operations of a schema within the settings' limits."""
    documents = Documents(
        schema._schema,
        size=settings.document_cache,
        max_tokens=settings.max_query_tokens,
        max_depth=settings.max_query_depth,
    )
    return Executor(schema, documents, timeout=settings.request_timeout)
