"""The payloads of mutations: the changed objects, and the errors that a client can act on."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import wraps
from types import SimpleNamespace
from typing import Any

from datasources.errors import RequestError, StoreError, Unauthenticated
from datasources.mappings import Edge as Row
from datasources.records import Record
from resolvers.context import Context
from resolvers.paging import Edge


@dataclass(frozen=True, slots=True)
class UserError:
    """One thing that was wrong with an input: `field` is where, `code` what kind."""

    code: str
    message: str
    field: str | None


class Payload(SimpleNamespace):
    """The fields of a mutation's payload by name, null where it failed."""


Mutation = Callable[..., Awaitable[dict[str, Any]]]


def mutation(*fields: str) -> Callable[[Mutation], Callable[..., Awaitable[Payload]]]:
    """A resolver of a mutation whose payload has these fields, and `errors`.

    Faults that the client can mend are in `errors`; not being signed in and a store that failed are
    errors of the whole field. A write that has more to say about what it refused answers with
    `errors` of its own.
    """

    def decorate(write: Mutation) -> Callable[..., Awaitable[Payload]]:
        async def answer(context: Context, input: Any) -> Payload:
            await _check_viewer(context)
            try:
                written = await write(context, input)
            except Unauthenticated:
                raise
            except RequestError as error:
                return Payload(**dict.fromkeys(fields), errors=[problem(error)])
            finally:
                # The payload, and whatever follows in the document, reads what was written.
                context.loaders.reset()
            return Payload(**{**dict.fromkeys(fields), "errors": [], **written})

        @wraps(write)
        async def resolve(context: Context, *, input: Any) -> Payload:
            kept = context.readings.once()
            if kept.value is None:
                kept.value = await answer(context, input)
            payload: Payload = kept.value
            return payload

        del resolve.__wrapped__  # its own signature is the one to read
        return resolve

    return decorate


async def _check_viewer(context: Context) -> None:
    """Raises Unauthenticated for a token of a user who does not exist. Where the viewer can't be
    read the write goes on: what it needs of the viewer's shard it will miss itself."""
    if context.viewer_id is None:
        return
    try:
        viewer = await context.loaders.users.load(context.viewer_id)
    except StoreError:
        return
    if viewer is None or not viewer.active:
        raise Unauthenticated("the token names a user who does not exist: get a new one")


def problem(error: RequestError) -> UserError:
    """The payload's error for a fault that the client can mend."""
    return UserError(error.code, error.message, error.field)


def edge(context: Context, row: Row, record: Record) -> Edge[Any]:
    """The entry of a list that a write made or moved."""
    return Edge(row, record, context.cursors)
