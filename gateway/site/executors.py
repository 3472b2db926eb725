"""Makes an executor from the settings."""

import strawberry

from gateway.documents.cache import Documents
from gateway.documents.limits import Limits
from gateway.execution.executor import Executor
from gateway.settings import Settings
from schema import schema as our_schema
from schema.federation import subgraph


def new_executor(settings: Settings) -> Executor:
    """Returns an executor for Pinway's schema, with the limits of the settings."""
    if settings.federation:
        return executor_of(subgraph(tells_sdl=settings.introspection), settings)
    return executor_of(our_schema, settings)


def executor_of(schema: strawberry.Schema, settings: Settings) -> Executor:
    """Returns an executor for any strawberry schema, with the limits of the settings."""
    documents = Documents(
        schema._schema,
        size=settings.document_cache,
        max_bytes=settings.document_cache_bytes,
        limits=limits_of(settings),
        suggestions=settings.suggestions,
        public=settings.public_max_age > 0,
    )
    return Executor(
        documents,
        timeout=settings.request_timeout,
        max_cost=settings.max_cost,
        max_bytes=settings.max_response_bytes,
    )


def limits_of(settings: Settings) -> Limits:
    """Returns the limits on documents from the settings."""
    return Limits(
        length=settings.max_query_length,
        tokens=settings.max_query_tokens,
        operations=settings.max_query_operations,
        depth=settings.max_query_depth,
        selections=settings.max_query_selections,
        root_fields=settings.max_query_root_fields,
        aliases=settings.max_query_aliases,
        directives=settings.max_query_directives,
        introspection=settings.introspection,
    )
