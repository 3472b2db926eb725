"""Runs GraphQL operations: parsed and validated once, executed, errors made fit to be seen."""

from gateway.execution.documents import Documents
from gateway.execution.executor import Executor
from gateway.settings import Settings
from schema import schema


def new_executor(settings: Settings) -> Executor:
    """Runs operations of our schema within the settings' limits."""
    documents = Documents(
        schema._schema,
        size=settings.document_cache,
        max_tokens=settings.max_query_tokens,
        max_depth=settings.max_query_depth,
    )
    return Executor(schema, documents, timeout=settings.request_timeout)
