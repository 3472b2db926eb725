"""Runs GraphQL operations: compiled once, executed breadth first, errors made fit to be seen.

An operation's way:

1. `documents` finds its text in a cache, or has it read (`reading`: parsed, held to its bounds by
   `limits`, and validated, where `merging` takes the place of one rule) beside the loop (`aside`);
   `engine` makes its `plan`. Nothing more is done until it runs: then `collect` gathers the
   fields of each selection (with graphql-core's own function, once for each value of its @skip and
   @include variables), `bind` finds the shortest way to each field's values, and `generate` writes
   the Python that makes a selection's objects.
2. A request coerces its `variables`, and a `run` works through `groups`: a group is one selection
   for all the objects at one place of the operation, however many lists they stand in. Each field
   is resolved for all of them before the next, a bulk resolver in one call; then their dicts are
   made in one comprehension and put where they belong. What all its parts see of a run is its
   `state`.
3. Where a selection and all below it is read from objects or comes from bulk resolvers or plain
   functions, be they coroutines (`subtrees`, of `parts`), an attempt is made to find its objects
   and make all of them in one go, without places (`attempts`). If anything is odd (which is looked
   for before something is waited for), or values that more hangs on arrive one after the other, the
   groups take over, with what resolvers gave or are about to give: none is asked twice.
4. `complete` takes a column of values of one type to the response: nulls and errors out first,
   lists flattened into one column of items, objects queued as the next group.
5. What is awaited is started at once and driven by `tasks`, without an asyncio.Task each: `steps`
   has what most of them do, and no more. The next round goes on with all that has arrived a turn
   after the first did; the rest stays waiting. So loads of one level stay in one batch, and what is
   slow holds up only what hangs on it. Where all that is waited for are loads of loaders, nothing
   can add to their batches: they are loaded at once, in the request's own task if it is one
   (`goals.WaitingLoad`, `loaders.batches.Load`).
   An operation's only field, and each field of a mutation, is awaited in the request's own task:
   the next field sees the context variables it set, and those set below it by things that were
   awaited one at a time, as under graphql-core.
6. `places` know where each value goes, and its path, which is worked out for errors alone. Errors
   are settled at a round's end in the order of the response, and nulls climb as far as they must,
   so that the outcome is what graphql-core's depth-first order gives.
7. `encode` writes the bytes, in pieces when there are many.

Where there was a C compiler, the modules that have a `.pxd` beside them are compiled from the same
Python: it says which of their fields and calls are C's. Besides, code of its own (`.pyx`) does what
`steps` and the writing of a subtree's objects are in Python (`compiled`), with `loaders.key_futures`,
whose promises of single keys it wakes all at once. In what is compiled from Python there is no
`super()` without arguments, no method that C alone knows is passed on as a value, and what was
found to be of one class of several goes on by another name, which the `.pxd` says is of that class.

What the usual path can't take (an error, a null where none may be, an odd class of value) goes
down a slow one that is exact, for that group's slice alone; `kinds` says which classes are usual.
In two things graphql-core's schedule is not kept. Which of two fields that run side by side has its
turn first: it shows where both read one generator that an attribute holds, each getting some of it.
And where a resolver whose parent was nulled takes its cancellation back and gives a value, nothing
below that is begun.
What isn't compiled (subscriptions, @defer, @stream) is left to graphql-core, and counted.
"""

import strawberry

import loaders  # noqa: F401  which finds what was compiled, or its sources
from gateway.execution.documents import Documents
from gateway.execution.executor import Executor
from gateway.execution.limits import Limits
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
        max_bytes=settings.document_cache_bytes,
        limits=limits_of(settings),
        suggestions=settings.suggestions,
    )
    return Executor(
        documents,
        timeout=settings.request_timeout,
        max_cost=settings.max_cost,
        max_bytes=settings.max_response_bytes,
    )


def limits_of(settings: Settings) -> Limits:
    """The bounds on documents that the settings give."""
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
