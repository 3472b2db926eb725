"""Makes an executor from the settings."""

import strawberry

from gateway.documents.cache import Documents
from gateway.documents.limits import Limits
from gateway.execution.executor import Executor
from gateway.settings import Settings
from schema import schema as our_schema
from schema.federation import subgraph

DOCUMENTS = 1_000
DOCUMENTS_BYTES = 256 * 1024**2
"""The approximate memory of the compiled documents: documents that were used once get an eighth of
it, and are dropped first; then the least recently used documents."""


def new_executor(settings: Settings) -> Executor:
    """Returns an executor for Pinway's schema, with the limits of the settings."""
    if settings.http.federation:
        return executor_of(subgraph(tells_sdl=settings.http.introspection), settings)
    return executor_of(our_schema, settings)


def executor_of(
    schema: strawberry.Schema, settings: Settings, *, documents: int = DOCUMENTS
) -> Executor:
    """Returns an executor for any strawberry schema, with the limits of the settings. It keeps up
    to `documents` documents compiled."""
    kept = Documents(
        schema._schema,
        size=documents,
        max_bytes=DOCUMENTS_BYTES,
        limits=limits_of(settings),
        suggestions=settings.http.introspection,
        public=settings.http.public_max_age > 0,
    )
    return Executor(
        kept,
        timeout=settings.http.request_timeout,
        max_cost=settings.limits.max_cost,
        max_bytes=settings.limits.max_response_bytes,
    )


def limits_of(settings: Settings) -> Limits:
    """Returns the limits on documents from the settings."""
    limits = settings.limits
    return Limits(
        length=limits.numbers.query_length,
        tokens=limits.numbers.query_tokens,
        operations=limits.numbers.query_operations,
        depth=limits.query_depth,
        selections=limits.numbers.query_selections,
        root_fields=limits.numbers.query_root_fields,
        aliases=limits.numbers.query_aliases,
        directives=limits.numbers.query_directives,
        introspection=settings.http.introspection,
    )
