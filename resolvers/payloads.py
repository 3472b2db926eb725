"""The common part of all mutations: who may write, and which errors go into the payload."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import wraps
from math import isfinite
from typing import Protocol, TypeVar, get_type_hints

from datasources.errors import QuotaExceeded, RequestError, StoreError, Unauthenticated
from datasources.mappings import Edge as Row
from datasources.mappings import ListKey, Mapping
from datasources.records import Record
from feed_engine.writes.sessions import REFUSED
from resolvers import blocks
from resolvers.context import Context
from resolvers.mutations.payloads import Payload, UserError
from resolvers.paging import Edge

In = TypeVar("In")
P = TypeVar("P", bound=Payload)
R = TypeVar("R", bound=Record)
In_contra = TypeVar("In_contra", contravariant=True)
P_co = TypeVar("P_co", bound=Payload, covariant=True)


class Resolver(Protocol[In_contra, P_co]):
    """The resolver of a mutation, as the schema calls it."""

    __name__: str

    async def __call__(self, context: Context, *, input: In_contra) -> P_co: ...


def mutation(
    write: Callable[[Context, In], Awaitable[P]], *, of_deleted: bool = False
) -> Resolver[In, P]:
    """The resolver of a mutation. `write` does the work and returns the payload. `of_deleted`: a
    deleted account may send it, too.

    Errors that the client can correct are in the payload's `errors`. If the client is not signed
    in, or a store failed, the whole field is an error. A refusal that needs more than an error
    returns a payload with `errors` from `write` itself.
    """
    empty: type[P] = get_type_hints(write)["return"]

    async def answer(context: Context, input: In) -> P:
        await _check_viewer(context, of_deleted=of_deleted)
        try:
            return await write(context, input)
        except Unauthenticated:
            raise
        except RequestError as error:
            return empty(errors=[problem(error)])
        finally:
            # The payload's fields, and later fields of the document, read the new data.
            context.forget()

    @wraps(write)
    async def resolve(context: Context, *, input: In) -> P:
        kept = context.readings.once()
        if kept.value is None:
            kept.value = await answer(context, input)
        payload: P = kept.value
        return payload

    del resolve.__wrapped__  # tools must read its own signature
    return resolve


async def _check_viewer(context: Context, *, of_deleted: bool) -> None:
    """Raises Unauthenticated for a token that is refused, or is of a user who does not exist. If
    the viewer can't be read, the write continues: it fails by itself if it needs the viewer's
    shard."""
    if context.viewer_id is None:
        return
    reading = asyncio.ensure_future(blocks.load(context)) if isfinite(context.issued) else None
    try:
        viewer = None if of_deleted else await context.loaders.users.load(context.viewer_id)
    except StoreError:
        of_deleted, viewer = True, None
    if reading is not None and (await reading).refuses(context.issued):
        raise Unauthenticated(REFUSED)
    if of_deleted:
        return
    if viewer is None or not viewer.active:
        raise Unauthenticated("the token names a user who does not exist: get a new one")


def problem(error: RequestError) -> UserError:
    """The payload's error for an error that the client can correct."""
    retry_after = error.retry_after if isinstance(error, QuotaExceeded) else None
    return UserError(error.code, error.message, error.field, retry_after)


def edge(context: Context, mapping: Mapping, row: Row, record: R) -> Edge[R]:
    """The entry of a list that a write created or moved."""
    return Edge(row, record, context.cursors.of(ListKey(mapping, row.from_id)))
